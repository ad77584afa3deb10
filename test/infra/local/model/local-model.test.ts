import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openLocalModel } from '../../../../infra/local/model/local-model.ts';
import { readModelSettings } from '../../../../infra/local/model/model-settings.ts';
import { Problem } from '../../../../infra/local/problem.ts';
import { standardModel } from '../../../../lib/contract/models.ts';
import { type ConverseClient, createConverseModel } from '../../../../lib/model/converse.ts';
import { createTemporaryFolder } from '../../../temporary-files.ts';
import { startChatServer } from './chat-server.ts';

const folder = createTemporaryFolder();
const script = join(folder, 'script.json');
writeFileSync(script, '[{"match":"tea","text":"Green."}]');

/** Opens the model that these variables choose, and asks it once. */
async function ask(variables: Record<string, string>, user: string) {
  const { client, introduction } = openLocalModel(readModelSettings(variables));
  const question = { model: standardModel, system: '', user, maxTokens: 100, signal: new AbortController().signal };
  return { introduction, answer: await createConverseModel(client as ConverseClient)(question) };
}

it('is the simulator where nothing is set, and says so', async () => {
  const { introduction, answer } = await ask({}, 'Hello?');
  expect(introduction).toBe('Agents are answered by the built-in simulator (set MODEL_BASE_URL for a real model)');
  expect(answer).toMatchObject({ kind: 'text', text: expect.stringContaining('"Hello?"') });
});

it('is the simulator by its script', async () => {
  const { introduction, answer } = await ask({ MODEL_SCRIPT: script }, 'Which tea?');
  expect(introduction).toContain(`by ${script} `);
  expect(answer).toMatchObject({ kind: 'text', text: 'Green.' });
});

it('is not opened by a script that cannot be used', () => {
  const settings = readModelSettings({ MODEL_SCRIPT: join(folder, 'none.json') });
  expect(() => openLocalModel(settings)).toThrow(Problem);
});

it('is a server of the chat protocol, and its key is not told', async () => {
  const chat = await startChatServer();
  const variables = { MODEL_BASE_URL: chat.baseUrl, MODEL_API_KEY: 'sk-1' };
  const first = await ask(variables, 'Hello?');
  expect(first.introduction).toBe(`Agents are answered by the first model at ${chat.baseUrl}`);
  expect(first.answer).toEqual({ kind: 'text', text: 'Hello.', tokens: 12 });
  const named = await ask({ ...variables, MODEL_NAME: 'qwen' }, 'Hello?');
  expect(named.introduction).toBe(`Agents are answered by qwen at ${chat.baseUrl}`);
  expect(chat.received.at(-1)).toMatchObject({ headers: { authorization: 'Bearer sk-1' }, body: { model: 'qwen' } });
});

it('is Bedrock itself by its own client', () => {
  expect(openLocalModel({ kind: 'bedrock', defaultModel: 'm' })).toEqual({
    client: undefined,
    introduction: "Agents are answered by Amazon Bedrock, with this machine's AWS credentials and region",
  });
});
