import type { ServerResponse } from 'node:http';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { openBedrock } from '../../lib/model/bedrock.ts';
import { type BedrockServer, closedEndpoint, json, refusal, startBedrock } from './bedrock-server.ts';

let bedrock: BedrockServer;
let told: Error[];

beforeAll(async () => {
  bedrock = await startBedrock();
});

beforeEach(() => {
  told = [];
});

async function ask(answer: (response: ServerResponse) => void, endpoint = bedrock.endpoint, signal?: AbortSignal) {
  bedrock.answer = answer;
  const model = openBedrock({ MODEL_ENDPOINT: endpoint }, (error) => told.push(error as Error));
  const { signal: never } = new AbortController();
  return model({ model: 'a-model', system: '', user: 'Hi.', maxTokens: 9, signal: signal ?? never });
}

const arn = 'arn:aws:bedrock:eu-central-1:111122223333:inference-profile/x';

it('what Bedrock says of a failure is told in its own words to the log, and to nobody else', async () => {
  const answered = await ask(refusal(403, 'AccessDeniedException', `You have no access to ${arn}.`));
  expect(JSON.stringify(answered)).not.toContain('arn:');
  expect(told.map(({ name, message }) => [name, message])).toEqual([
    ['AccessDeniedException', `You have no access to ${arn}.`],
  ]);
});

it('a model that cannot be reached is told with the reason', async () => {
  const endpoint = await closedEndpoint();
  await ask(json({}), endpoint);
  expect(told).toHaveLength(1);
});

it('throttling is no failure, nor is a call that its caller has ended, nor an answer', async () => {
  await ask(refusal(429, 'ThrottlingException', 'Too many requests.'));
  await ask(json({}), bedrock.endpoint, AbortSignal.abort());
  const content = [{ text: 'Hello.' }];
  await ask(json({ output: { message: { role: 'assistant', content } }, stopReason: 'end_turn', usage: {} }));
  expect(told).toEqual([]);
});
