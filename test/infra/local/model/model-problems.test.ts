import { describe, expect, it } from 'vitest';
import { createChatModel } from '../../../../infra/local/model/chat-model.ts';
import { converseClient } from '../../../../infra/local/model/converse-client.ts';
import { createLocalModel } from '../../../../infra/local/model/local-model.ts';
import { readModelSettings } from '../../../../infra/local/model/model-settings.ts';
import { createConverseModel } from '../../../../lib/model/converse.ts';
import { closedEndpoint } from '../../../model/bedrock-server.ts';
import { json, startChatServer } from './chat-server.ts';

const key = 'sk-never-to-be-seen';

/** Checks the model server at the start, with these settings. */
const check = (baseUrl: string, variables: Record<string, string> = {}) =>
  createLocalModel(readModelSettings({ MODEL_BASE_URL: baseUrl, MODEL_API_KEY: key, ...variables })).check();

describe('the check of the model server at the start', () => {
  it('finds no problem with a server that lists a model', async () => {
    expect(await check((await startChatServer()).baseUrl)).toBeUndefined();
  });

  it('names the URL and the cause if nothing listens there', async () => {
    const endpoint = await closedEndpoint();
    const [baseUrl, host] = [`${endpoint}/v1`, new URL(endpoint).host];
    expect(await check(baseUrl)).toBe(`The model server at ${baseUrl} does not answer: connect ECONNREFUSED ${host}.`);
  });

  it.each([
    [401, /rejects the key; set MODEL_API_KEY\.$/],
    [404, /lists no model; check the path/],
  ])('names the URL and what to do about status %i', async (status, problem) => {
    const chat = await startChatServer();
    chat.models = json({}, status);
    const found = await check(chat.baseUrl);
    expect(found).toMatch(problem);
    expect(found).toContain(`The model server at ${chat.baseUrl} `);
    expect(found).not.toContain(key);
  });

  it('accepts a server that does not list its models, if the model is named', async () => {
    const chat = await startChatServer();
    chat.models = json({}, 404);
    expect(await check(chat.baseUrl, { MODEL_NAME: 'llama' })).toBeUndefined();
  });

  it('finds no problem with the simulator', async () => {
    expect(await createLocalModel(readModelSettings({})).check()).toBeUndefined();
  });
});

it('a call to a server that does not answer fails with its URL and the cause, and is logged without a stack', async () => {
  const endpoint = await closedEndpoint();
  const [baseUrl, host] = [`${endpoint}/v1`, new URL(endpoint).host];
  const server = { defaultModel: 'm', baseUrl, apiKey: key, name: 'llama' };
  const failures: unknown[] = [];
  const model = createConverseModel(converseClient(createChatModel(server)), (error) => failures.push(error));
  const question = { model: 'm', system: '', user: 'Hello?', maxTokens: 100, signal: new AbortController().signal };
  const error = `The model server at ${baseUrl} does not answer: connect ECONNREFUSED ${host}.`;
  expect(await model(question)).toEqual({ kind: 'faulty', error, tokens: 0 });
  expect(failures).toMatchObject([{ name: 'ModelServerError', message: error }]);
});
