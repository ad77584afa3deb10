import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLocalModel } from '../../../../infra/local/model/local-model.ts';
import { readModelSettings } from '../../../../infra/local/model/model-settings.ts';
import { standardModel } from '../../../../lib/contract/agents/models.ts';
import { type ConverseClient, createConverseModel } from '../../../../lib/model/converse.ts';
import { closedEndpoint } from '../../../model/bedrock-server.ts';
import { createTemporaryFolder } from '../../../temporary-files.ts';
import { json, startChatServer } from './chat-server.ts';

const folder = createTemporaryFolder();
const script = join(folder, 'script.json');
writeFileSync(script, '[{"match":"tea","text":"Green."}]');

/** Creates the model that these variables choose, and sends it one prompt. */
async function ask(variables: Record<string, string>, user: string) {
  const { client, check } = createLocalModel(readModelSettings(variables));
  const { description } = await check();
  const question = { model: standardModel, system: '', user, maxTokens: 100, signal: new AbortController().signal };
  return { description, answer: await createConverseModel(client as ConverseClient)(question) };
}

it('is the simulator by default, and its description says so', async () => {
  const { description, answer } = await ask({}, 'Hello?');
  expect(description).toBe(
    'Agents use the built-in simulator (set MODEL_BASE_URL for a real model). It is no model and does no work: its answers are marked (simulated)',
  );
  expect(answer).toMatchObject({ kind: 'text', text: expect.stringMatching(/“Hello\?”.* \(simulated\)$/) });
});

it('is the simulator with a script', async () => {
  const { description, answer } = await ask({ MODEL_SCRIPT: script }, 'Which tea?');
  expect(description).toContain(`with the script ${script} `);
  expect(answer).toMatchObject({ kind: 'text', text: 'Green.' });
});

it('is a server of the chat protocol, and its description does not contain the key', async () => {
  const chat = await startChatServer();
  const variables = { MODEL_BASE_URL: chat.baseUrl, MODEL_API_KEY: 'sk-1' };
  const first = await ask(variables, 'Hello?');
  expect(first.description).toBe(`Agents use llama at ${chat.baseUrl}`);
  expect(first.answer).toEqual({ kind: 'text', text: 'Hello.', tokens: 12 });
  const named = await ask({ ...variables, MODEL_NAME: 'qwen' }, 'Hello?');
  expect(named.description).toBe(`Agents use qwen at ${chat.baseUrl}`);
  expect(chat.received.at(-1)).toMatchObject({ headers: { authorization: 'Bearer sk-1' }, body: { model: 'qwen' } });
});

it('is Bedrock itself, which the SDK calls', async () => {
  const { client, name, check } = createLocalModel({ kind: 'bedrock', defaultModel: 'm' });
  expect({ client, name, ...(await check()) }).toEqual({
    client: undefined,
    name: undefined,
    description: "Agents use Amazon Bedrock, with this machine's AWS credentials and region",
    problem: undefined,
  });
});

describe('the check of the model at the start', () => {
  const key = 'sk-never-to-be-seen';
  const check = async (variables: Record<string, string>) =>
    (await createLocalModel(readModelSettings(variables)).check()).problem;
  const checkServer = (MODEL_BASE_URL: string) => check({ MODEL_BASE_URL, MODEL_API_KEY: key });

  it('finds no problem with the simulator, and with a server that lists a model or whose model is named', async () => {
    expect(await check({})).toBeUndefined();
    const chat = await startChatServer();
    expect(await checkServer(chat.baseUrl)).toBeUndefined();
    chat.models = json({}, 404);
    expect(await check({ MODEL_BASE_URL: chat.baseUrl, MODEL_NAME: 'llama' })).toBeUndefined();
  });

  it('finds no model to answer if the server has only models for search', async () => {
    const chat = await startChatServer();
    chat.models = json({ data: [{ id: 'nomic-embed-text' }, { id: 'bge-Reranker-v2' }] });
    expect(await checkServer(chat.baseUrl)).toMatch(/lists no model that answers questions.* or set MODEL_NAME\.$/);
  });

  it('names the URL and the cause if nothing listens there', async () => {
    const endpoint = await closedEndpoint();
    expect(await checkServer(`${endpoint}/v1`)).toBe(
      `The model server at ${endpoint}/v1 does not answer: connect ECONNREFUSED ${new URL(endpoint).host}.`,
    );
  });

  it.each([
    [401, /rejects the key; set MODEL_API_KEY\.$/],
    [404, /lists no model that answers questions; check the path/],
  ])('names the URL and what to do about status %i', async (status, problem) => {
    const chat = await startChatServer();
    chat.models = json({}, status);
    const found = await checkServer(chat.baseUrl);
    expect(found).toMatch(problem);
    expect(found).toContain(`The model server at ${chat.baseUrl} `);
    expect(found).not.toContain(key);
  });
});
