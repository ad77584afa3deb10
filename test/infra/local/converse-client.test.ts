import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ConverseServer, type Request, startConverseServer } from '../../../infra/local/converse-server.ts';

let server: ConverseServer;
const asked: Request[] = [];

beforeAll(async () => {
  server = await startConverseServer(async (request) => {
    asked.push(request);
    if (request.user === 'break') throw new Error('of the server, with a key: sk-1');
    return { kind: 'answer', text: 'Yes.', stopReason: 'end_turn', tokens: { input: 2, output: 1 } };
  });
});

afterAll(() => server.stop());

const user = (text: string) => [{ role: 'user', content: [{ text }] }];
const good = { messages: user('Hello?'), inferenceConfig: { maxTokens: 5 } };

async function post(body: unknown, path = '/model/m/converse', method = 'POST') {
  const sent = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(server.endpoint + path, { method, ...(method === 'POST' && { body: sent }) });
  return { status: response.status, name: response.headers.get('x-amzn-errortype'), body: await response.json() };
}

it('hands over what is asked, and answers as Converse does', async () => {
  const path = `/model/${encodeURIComponent('arn:aws:bedrock:eu:1:inference-profile/a')}/converse`;
  expect(await post({ system: [{ text: 'Be brief.' }], ...good }, path)).toEqual({
    status: 200,
    name: null,
    body: {
      output: { message: { role: 'assistant', content: [{ text: 'Yes.' }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 2, outputTokens: 1, totalTokens: 3 },
    },
  });
  expect(asked.at(-1)).toEqual({
    model: 'arn:aws:bedrock:eu:1:inference-profile/a',
    system: 'Be brief.',
    user: 'Hello?',
    maxTokens: 5,
  });
});

it.each<[string, unknown]>([
  ['no JSON', '{'],
  ['no message', { ...good, messages: [] }],
  ['a blank message', { ...good, messages: user(' \n') }],
  ['a blank system prompt', { ...good, system: [{ text: '' }] }],
  ['two messages', { ...good, messages: [...user('a'), ...user('b')] }],
  ['a message of the model', { ...good, messages: [{ role: 'assistant', content: [{ text: 'a' }] }] }],
  ['no limit of tokens', { messages: good.messages }],
  ['a limit of no tokens', { ...good, inferenceConfig: { maxTokens: 0 } }],
  ['sampling', { ...good, inferenceConfig: { maxTokens: 5, temperature: 0 } }],
  ['tools', { ...good, toolConfig: { tools: [] } }],
])('refuses a request with %s', async (_, body) => {
  const before = asked.length;
  expect(await post(body)).toMatchObject({ status: 400, name: 'ValidationException' });
  expect(asked.length).toBe(before);
});

it.each([
  ['GET', '/model/m/converse'],
  ['POST', '/model/m/converse-stream'],
  ['POST', '/'],
])('knows nothing of %s %s', async (method, path) => {
  expect(await post(good, path, method)).toMatchObject({ status: 404, name: 'ResourceNotFoundException' });
});

it('answers a fault of its own as Bedrock does, and says nothing of it', async () => {
  const answer = await post({ ...good, messages: user('break') });
  expect(answer).toMatchObject({ status: 500, name: 'InternalServerException' });
  expect(JSON.stringify(answer)).not.toContain('sk-1');
});
