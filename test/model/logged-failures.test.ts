import type { ServerResponse } from 'node:http';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { createBedrockModel } from '../../lib/model/bedrock.ts';
import { type BedrockServer, bedrockError, closedEndpoint, json, startBedrock } from './bedrock-server.ts';

let bedrock: BedrockServer;
let logged: Error[];

beforeAll(async () => {
  bedrock = await startBedrock();
});

beforeEach(() => {
  logged = [];
});

async function ask(answer: (response: ServerResponse) => void, endpoint = bedrock.endpoint, signal?: AbortSignal) {
  bedrock.answer = answer;
  const model = createBedrockModel({ MODEL_ENDPOINT: endpoint }, (error) => logged.push(error as Error));
  const { signal: never } = new AbortController();
  return model({ model: 'a-model', system: '', user: 'Hi.', maxTokens: 9, signal: signal ?? never });
}

const arn = 'arn:aws:bedrock:eu-central-1:111122223333:inference-profile/x';

it('the original message of Bedrock goes to the log and not to the answer', async () => {
  const answer = await ask(bedrockError(403, 'AccessDeniedException', `You have no access to ${arn}.`));
  expect(JSON.stringify(answer)).not.toContain('arn:');
  expect(logged.map(({ name, message }) => [name, message])).toEqual([
    ['AccessDeniedException', `You have no access to ${arn}.`],
  ]);
});

it('a connection error goes to the log', async () => {
  const endpoint = await closedEndpoint();
  await ask(json({}), endpoint);
  expect(logged).toHaveLength(1);
});

it('throttling, an aborted call and an answer write nothing to the log', async () => {
  await ask(bedrockError(429, 'ThrottlingException', 'Too many requests.'));
  await ask(json({}), bedrock.endpoint, AbortSignal.abort());
  const content = [{ text: 'Hello.' }];
  await ask(json({ output: { message: { role: 'assistant', content } }, stopReason: 'end_turn', usage: {} }));
  expect(logged).toEqual([]);
});
