import { ConverseCommand, type ConverseCommandInput } from '@aws-sdk/client-bedrock-runtime';
import { expect, it } from 'vitest';
import { converseClient, type ModelRequest, type Reply } from '../../../../infra/local/model/converse-client.ts';
import { standardModel } from '../../../../lib/contract/agents/models.ts';

const asked: ModelRequest[] = [];
let reply: Reply = { kind: 'answer', text: 'Yes.', stopReason: 'end_turn', tokens: { input: 2, output: 1 } };
const client = converseClient(async (request) => {
  asked.push(request);
  if (request.user === 'break') throw new Error('an error of the model with a key: sk-1');
  return reply;
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
  expect(asked.at(-1)).toEqual({
    ...{ model: modelId, system: 'Be brief.', user: 'Hello?', maxTokens: 5 },
    ...{ later: [], tools: [] },
  });
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
  ['an empty list of tools', { ...good, toolConfig: { tools: [] } }],
])('rejects a request with %s', async (_, input) => {
  const before = asked.length;
  await expect(send(input)).rejects.toMatchObject(errorOf('ValidationException', 400));
  expect(asked.length).toBe(before);
});

/** A conversation in which the model has called two tools, for a model with prompt caching. */
const point = { cachePoint: { type: 'default' } };
const toolUse = (toolUseId: string, more: object = {}) => ({
  toolUse: { toolUseId, name: 'get_task', input: {}, ...more },
});
const toolResult = (toolUseId: string, more: object = {}) => ({
  toolResult: { toolUseId, content: [{ text: '{}' }], status: 'success', ...more },
});
const spec = (more: object = {}) => ({
  toolSpec: { name: 'get_task', description: 'Get a task.', inputSchema: { json: { type: 'object' } }, ...more },
});
const thought = (more: object) => ({ reasoningContent: { reasoningText: { text: 'Hm.', ...more } } });
const signed = thought({ signature: 's' });
const conversation = (
  assistant: object[] = [signed, { text: 'I read.' }, toolUse('t1'), toolUse('t2')],
  results: object[] = [toolResult('t1'), toolResult('t2', { status: 'error' }), point],
  more: object = {},
) => ({
  ...{ ...good, modelId: standardModel, system: [{ text: 'Be brief.' }, point] },
  messages: [
    { role: 'user', content: [{ text: 'Hello?' }, point] },
    { role: 'assistant', content: assistant },
    { role: 'user', content: results },
  ],
  toolConfig: { tools: [spec(), point] },
  ...more,
});

it('passes a conversation with tools to the model, without thoughts and cache points', async () => {
  await send(conversation(undefined, [toolResult('t1'), toolResult('t2', { status: 'error' }), { text: 'Again.' }]));
  expect(asked.at(-1)).toMatchObject({
    ...{ system: 'Be brief.', user: 'Hello?' },
    tools: [{ name: 'get_task', description: 'Get a task.', inputSchema: { type: 'object' } }],
    later: [
      {
        ...{ role: 'assistant', text: 'I read.' },
        calls: ['t1', 't2'].map((id) => ({ id, name: 'get_task', input: {} })),
      },
      {
        ...{ role: 'user', text: 'Again.' },
        results: [
          { id: 't1', output: '{}', isError: false },
          { id: 't2', output: '{}', isError: true },
        ],
      },
    ],
  });
});

it.each([
  ['a text', 'Now.', [{ text: 'Now.' }]],
  ['no text', '', []],
])('answers with %s and the calls of the model', async (_, text, texts) => {
  const plain = reply;
  reply = { kind: 'answer', text, stopReason: 'tool_use', calls: [{ id: 't1', name: 'get_task', input: 'broken' }] };
  expect(await send(conversation())).toEqual({
    output: { message: { role: 'assistant', content: [...texts, toolUse('t1', { input: 'broken' })] } },
    stopReason: 'tool_use',
  });
  reply = plain;
});

const named = { name: 'get_task' };
const uncached = {
  ...{ ...good, toolConfig: { tools: [spec()] } },
  messages: [
    ...good.messages,
    { role: 'assistant', content: [{ text: 'I read.' }, toolUse('t1')] },
    { role: 'user', content: [toolResult('t1')] },
  ],
};

it.each<[string, object]>([
  ['no tools', conversation(undefined, undefined, { toolConfig: undefined })],
  ['a result that is missing', conversation(undefined, [toolResult('t1')])],
  ['results in a later message', conversation(undefined, [{ text: 'Wait.' }])],
  ['a result of another call', conversation([toolUse('t1')], [toolResult('t1'), toolResult('t2')])],
  ['a result without a call', { ...conversation(), messages: [{ role: 'user', content: [toolResult('t1')] }] }],
  ['two calls with one id', conversation([toolUse('t1'), toolUse('t1')], [toolResult('t1')])],
  ['an invalid id', conversation([toolUse('t 1')], [toolResult('t 1')])],
  ['an invalid name of a called tool', conversation([toolUse('t1', { name: 'get task' })], [toolResult('t1')])],
  ['input that is no object', conversation([toolUse('t1', { input: '{}' })], [toolResult('t1')])],
  ['a list for input', conversation([toolUse('t1', { input: [] })], [toolResult('t1')])],
  ['a result without content', conversation([toolUse('t1')], [toolResult('t1', { content: [] })])],
  ['thoughts without a signature', conversation([thought({}), toolUse('t1')], [toolResult('t1')])],
  ['a blank text beside a call', conversation([{ text: ' ' }, toolUse('t1')], [toolResult('t1')])],
  ['an empty message', conversation([], [{ text: 'And?' }])],
  ['a call in a message of the user', conversation([{ text: 'Hm.' }], [toolUse('t1')])],
  ['a cache point in a message of the model', conversation([toolUse('t1'), point], [toolResult('t1')])],
  ['a cache point before the results', conversation([toolUse('t1')], [point, toolResult('t1')])],
  ['five cache points', conversation([toolUse('t1')], [toolResult('t1'), point, point])],
  [
    'only a cache point for tools',
    conversation([{ text: 'Hm.' }], [{ text: 'And?' }], { toolConfig: { tools: [point] } }),
  ],
  ['two tools of one name', conversation(undefined, undefined, { toolConfig: { tools: [spec(), spec()] } })],
  ['an invalid name of a tool', conversation(undefined, undefined, { toolConfig: { tools: [spec({ name: 'a b' })] } })],
  [
    'a tool without a description',
    conversation(undefined, undefined, { toolConfig: { tools: [{ toolSpec: named }] } }),
  ],
  ['a last message of the model', { ...conversation(), messages: conversation().messages.slice(0, 2) }],
  [
    'text beside calls, for a model that rejects it',
    { ...uncached, modelId: 'meta.llama4-maverick-17b-instruct-v1:0' },
  ],
])('rejects a conversation with %s', async (_, input) => {
  const before = asked.length;
  await expect(send(input)).rejects.toMatchObject(errorOf('ValidationException', 400));
  expect(asked.length).toBe(before);
});

it.each<[string, object]>([
  ['no object', { type: 'string' }],
  ['no type', { properties: {} }],
  ['a choice at its top', { type: 'object', anyOf: [{ required: ['id'] }] }],
  ['an invalid name of a property', { type: 'object', properties: { 'the id': {} } }],
])('rejects a tool whose schema has %s', async (_, json) => {
  const toolConfig = { tools: [spec({ inputSchema: { json } })] };
  await expect(send({ ...good, toolConfig })).rejects.toMatchObject(errorOf('ValidationException', 400));
  await expect(send({ ...good, toolConfig: { tools: [spec()] } })).resolves.toMatchObject({ stopReason: 'end_turn' });
});

it('rejects cache points for a model without prompt caching', async () => {
  await expect(send({ ...conversation(), modelId: 'm' })).rejects.toMatchObject(errorOf('AccessDeniedException', 403));
});

it('fails as Bedrock does if the model throws, and does not pass on the message', async () => {
  const error: Error = await send({ ...good, messages: user('break') }).catch((failed) => failed);
  expect(error).toMatchObject(errorOf('InternalServerException', 500));
  expect(error.message).not.toContain('sk-1');
});
