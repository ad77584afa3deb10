import { Agent, type ServerResponse } from 'node:http';
import { expect, it, vi } from 'vitest';
import { createBedrockModel } from '../../lib/model/bedrock.ts';
import { json, startBedrock } from './bedrock-server.ts';

const question = { model: 'm', system: '', user: 'Hi.', maxTokens: 10, signal: new AbortController().signal };
const hello = json({ output: { message: { content: [{ text: 'Hello.' }] } }, stopReason: 'end_turn' });

it('reads the endpoint at the first question', async () => {
  const bedrock = await startBedrock();
  bedrock.answer = hello;
  const variables: Record<string, string> = {};
  const model = createBedrockModel(variables);
  variables.MODEL_ENDPOINT = bedrock.endpoint;
  expect(await model(question)).toMatchObject({ kind: 'text', text: 'Hello.' });
});

it('opens a connection for each question', async () => {
  const bedrock = await startBedrock();
  const sockets = new Set<unknown>();
  bedrock.answer = (response) => {
    sockets.add(response.socket);
    hello(response);
  };
  const model = createBedrockModel({ MODEL_ENDPOINT: bedrock.endpoint });
  for (let nth = 0; nth < 3; nth++) expect(await model(question)).toMatchObject({ kind: 'text' });
  expect(sockets.size).toBe(3);
});

it('gets an answer after the server has reset an earlier connection', async () => {
  const bedrock = await startBedrock();
  const known = new Set<unknown>();
  // After a container was frozen, the server resets a pooled connection when the client uses it.
  bedrock.answer = (response) => {
    if (known.has(response.socket)) return void response.socket?.resetAndDestroy();
    known.add(response.socket);
    hello(response);
  };
  const model = createBedrockModel({ MODEL_ENDPOINT: bedrock.endpoint });
  for (let nth = 0; nth < 3; nth++) expect(await model(question)).toMatchObject({ kind: 'text' });
});

it('opens connections with TCP keep-alive', async () => {
  const bedrock = await startBedrock();
  bedrock.answer = hello;
  const connect = vi.spyOn(Agent.prototype, 'createConnection');
  const model = createBedrockModel({ MODEL_ENDPOINT: bedrock.endpoint });
  await model(question);
  expect(connect.mock.lastCall?.[0]).toMatchObject({ keepAlive: true, keepAliveInitialDelay: 1_000 });
});

it('asks 60 questions concurrently', async () => {
  const bedrock = await startBedrock();
  const waiting: ServerResponse[] = [];
  bedrock.answer = (response) => {
    waiting.push(response);
    if (waiting.length === 60) waiting.forEach(hello);
  };
  const model = createBedrockModel({ MODEL_ENDPOINT: bedrock.endpoint });
  const answers = await Promise.all(Array.from({ length: 60 }, () => model(question)));
  expect(answers.filter(({ kind }) => kind === 'text')).toHaveLength(60);
});

it('answers with a failure for a model that the deployment does not allow', async () => {
  const bedrock = await startBedrock();
  bedrock.answer = hello;
  const model = createBedrockModel({ MODEL_ENDPOINT: bedrock.endpoint, ALLOWED_MODELS: 'a, b' });
  expect(await model(question)).toEqual({
    kind: 'failed',
    error: 'This deployment does not allow the model of the agent; give it an allowed one.',
    tokens: 0,
  });
  expect(bedrock.received).toEqual([]);
  expect(await model({ ...question, model: 'b' })).toMatchObject({ kind: 'text' });
});
