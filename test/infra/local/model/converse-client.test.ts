import { ConverseCommand, type ConverseCommandInput } from '@aws-sdk/client-bedrock-runtime';
import { expect, it } from 'vitest';
import { converseClient, type Request } from '../../../../infra/local/model/converse-client.ts';

const asked: Request[] = [];
const client = converseClient(async (request) => {
  asked.push(request);
  if (request.user === 'break') throw new Error('an error of the model with a key: sk-1');
  return { kind: 'answer', text: 'Yes.', stopReason: 'end_turn', tokens: { input: 2, output: 1 } };
});

const user = (text: string) => [{ role: 'user', content: [{ text }] }];
const good = { modelId: 'm', messages: user('Hello?'), inferenceConfig: { maxTokens: 5 } };
const { signal: abortSignal } = new AbortController();
const send = (input: object) => client.send(new ConverseCommand(input as ConverseCommandInput), { abortSignal });
const errorOf = (name: string, httpStatusCode: number) => ({ name, $metadata: { httpStatusCode } });

it('passes a request to the model, and answers as Converse does', async () => {
  const modelId = 'arn:aws:bedrock:eu:1:inference-profile/a';
  expect(await send({ ...good, modelId, system: [{ text: 'Be brief.' }] })).toEqual({
    output: { message: { role: 'assistant', content: [{ text: 'Yes.' }] } },
    stopReason: 'end_turn',
    usage: { inputTokens: 2, outputTokens: 1, totalTokens: 3 },
  });
  expect(asked.at(-1)).toEqual({ model: modelId, system: 'Be brief.', user: 'Hello?', maxTokens: 5 });
});

it.each<[string, object]>([
  ['no message', { ...good, messages: [] }],
  ['a blank message', { ...good, messages: user(' \n') }],
  ['a blank system prompt', { ...good, system: [{ text: '' }] }],
  ['two messages', { ...good, messages: [...user('a'), ...user('b')] }],
  ['a message of the model', { ...good, messages: [{ role: 'assistant', content: [{ text: 'a' }] }] }],
  ['no token limit', { modelId: 'm', messages: good.messages }],
  ['a token limit of 0', { ...good, inferenceConfig: { maxTokens: 0 } }],
  ['sampling', { ...good, inferenceConfig: { maxTokens: 5, temperature: 0 } }],
  ['tools', { ...good, toolConfig: { tools: [] } }],
])('rejects a request with %s', async (_, input) => {
  const before = asked.length;
  await expect(send(input)).rejects.toMatchObject(errorOf('ValidationException', 400));
  expect(asked.length).toBe(before);
});

it('fails as Bedrock does if the model throws, and does not pass on the message', async () => {
  const error: Error = await send({ ...good, messages: user('break') }).catch((failed) => failed);
  expect(error).toMatchObject(errorOf('InternalServerException', 500));
  expect(error.message).not.toContain('sk-1');
});
