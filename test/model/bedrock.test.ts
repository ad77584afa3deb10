import { Agent, type ServerResponse } from 'node:http';
import { beforeEach, expect, it, vi } from 'vitest';
import { createBedrockModel } from '../../lib/model/bedrock.ts';
import type { Model } from '../../lib/model/converse.ts';
import { type BedrockServer, json, startBedrock } from './bedrock-server.ts';

const question = { model: 'm', system: '', user: 'Hi.', maxTokens: 10, signal: new AbortController().signal };
const hello = json({ output: { message: { content: [{ text: 'Hello.' }] } }, stopReason: 'end_turn' });
let bedrock: BedrockServer;
let model: Model;

beforeEach(async () => {
  bedrock = await startBedrock();
  bedrock.answer = hello;
  const variables: Record<string, string> = { ALLOWED_MODELS: 'l, m' };
  model = createBedrockModel(variables);
  // The endpoint is read at the first question.
  variables.MODEL_ENDPOINT = bedrock.endpoint;
});

it('opens a connection with TCP keep-alive for each question, also after the server has reset an earlier one', async () => {
  const connect = vi.spyOn(Agent.prototype, 'createConnection');
  const known = new Set<unknown>();
  // After a container was frozen, the server resets a pooled connection when the client uses it.
  bedrock.answer = (response) => {
    if (known.has(response.socket)) return void response.socket?.resetAndDestroy();
    known.add(response.socket);
    hello(response);
  };
  for (let nth = 0; nth < 3; nth++) expect(await model(question)).toMatchObject({ kind: 'text', text: 'Hello.' });
  expect(known.size).toBe(3);
  expect(connect.mock.lastCall?.[0]).toMatchObject({ keepAlive: true, keepAliveInitialDelay: 1_000 });
});

it('asks 60 questions concurrently', async () => {
  const waiting: ServerResponse[] = [];
  bedrock.answer = (response) => {
    waiting.push(response);
    if (waiting.length === 60) waiting.forEach(hello);
  };
  const answers = await Promise.all(Array.from({ length: 60 }, () => model(question)));
  expect(answers.filter(({ kind }) => kind === 'text')).toHaveLength(60);
});

it('answers with a failure for a model that the deployment does not allow', async () => {
  const error = 'This deployment does not allow the model of the agent; give it an allowed one.';
  expect(await model({ ...question, model: 'other' })).toEqual({ kind: 'failed', error, tokens: 0 });
  expect(bedrock.received).toEqual([]);
});

it.each([5_000, 20_000, 200_000])(
  'counts an answer that is nested %i levels deep, whose call is invalid',
  async (levels) => {
    const input = `{"quote":"[\\"[","deep":${'['.repeat(levels)}"\\\\"${']'.repeat(levels)}}`;
    const content = `[{"text":"[ \\" ]"},{"toolUse":{"toolUseId":"a","name":"t","input":${input}}},{"text":"!"}]`;
    bedrock.answer = (response) =>
      response
        .writeHead(200, { 'Content-Type': 'application/json' })
        .end(`{"output":{"message":{"content":${content}}},"stopReason":"tool_use","usage":{"totalTokens":7}}`);
    const tools = [{ name: 't', description: 'A tool.', inputSchema: { type: 'object' } }];
    expect(await model({ ...question, tools })).toEqual({
      ...{ kind: 'tools', tokens: 7, text: '[ " ]!', calls: [{ id: 'a', name: 't', input: undefined }] },
      content: expect.stringContaining('nested more than 33 levels deep'),
    });
  },
);

it.each([
  ['a whole number that JSON does not keep', '{"a":[9007199254740993]}', undefined],
  ['an infinite number', '{"a":1e999}', undefined],
  ['a number that would fill the memory', '{"a":-1.5E+00400000000}', undefined],
  [
    'numbers and a text with exponents',
    '{"a":[1e3,1e-0007,true],"b":"1e400000000"}',
    { a: [1e3, 1e-7, true], b: '1e400000000' },
  ],
  ['a number with many digits', '{"a":[0.1000000000000000055]}', { a: [0.1] }],
])('reads a call with %s, and counts its tokens', async (_, input, expected) => {
  const content = `[{"toolUse":{"toolUseId":"a","name":"t","input":${input}}}]`;
  bedrock.answer = (response) =>
    response
      .writeHead(200, { 'Content-Type': 'application/json' })
      .end(`{"output":{"message":{"content":${content}}},"stopReason":"tool_use","usage":{"totalTokens":7}}`);
  const tools = [{ name: 't', description: 'A tool.', inputSchema: { type: 'object' } }];
  const calls = [{ id: 'a', name: 't', input: expected }];
  expect(await model({ ...question, tools })).toMatchObject({ kind: 'tools', tokens: 7, calls });
});
