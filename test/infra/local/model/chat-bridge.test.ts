import type { ServerResponse } from 'node:http';
import { ConverseCommand } from '@aws-sdk/client-bedrock-runtime';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type ChatServer as Bridged, openChatBridge } from '../../../../infra/local/model/chat-bridge.ts';
import { converseClient } from '../../../../infra/local/model/converse-client.ts';
import { formerStandardModels, standardModel } from '../../../../lib/contract/models.ts';
import { type Answer, createConverseModel, type Question } from '../../../../lib/model/converse.ts';
import { closedEndpoint } from '../../../model/bedrock-server.ts';
import { type ChatServer, completion, json, startChatServer } from './chat-server.ts';

const key = 'sk-never-to-be-seen';
const broken = { kind: 'faulty', error: 'The model could not be reached, or had a fault.', tokens: 0 };
const tooSlow = { kind: 'faulty', error: 'The model took too long to answer.', tokens: 0 };
const noAccess = { kind: 'failed', error: 'This deployment has no access to the model.', tokens: 0 };
const unknownModel = { kind: 'failed', error: 'There is no such model, or it cannot be used from here.', tokens: 0 };
const notTaken = {
  kind: 'failed',
  error: 'The model rejected the request; the input may be too long for it.',
  tokens: 0,
};

let chat: ChatServer;

beforeEach(async () => {
  chat = await startChatServer();
});

/** A bridge to the server, asked through the model port. */
async function bridge(more: Partial<Bridged> = {}) {
  const server = { defaultModel: 'the-default', baseUrl: chat.baseUrl, apiKey: key, name: 'llama', ...more };
  const ask = createConverseModel(converseClient(openChatBridge(server)));
  return (asked: Partial<Question> = {}): Promise<Answer> =>
    ask({
      model: 'the-default',
      system: 'Be brief.',
      user: 'Say hello.',
      maxTokens: 100,
      signal: new AbortController().signal,
      ...asked,
    });
}

describe('a question', () => {
  it('of an agent that has the default model of an earlier version is asked of the same model', async () => {
    const ask = await bridge();
    await ask({ model: formerStandardModels[0] });
    expect(chat.received.at(-1)?.body).toMatchObject({ model: 'llama' });
  });

  it('has no tokens for thinking: another model answers than the one that the id names', async () => {
    const ask = await bridge({ defaultModel: standardModel });
    await ask({ model: standardModel });
    expect(chat.received.at(-1)?.body).toMatchObject({ model: 'llama', max_tokens: 100 });
  });

  it('is asked in the chat protocol', async () => {
    const ask = await bridge();
    expect(await ask()).toEqual({ kind: 'text', text: 'Hello.', tokens: 12 });
    expect(chat.received).toMatchObject([
      {
        method: 'POST',
        path: '/v1/chat/completions',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      },
    ]);
    expect(chat.received[0]?.body).toEqual({
      model: 'llama',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Say hello.' },
      ],
      max_tokens: 100,
      stream: false,
    });
  });

  it('has no system message where there is nothing to be', async () => {
    const ask = await bridge();
    await ask({ system: '' });
    expect(chat.received[0]?.body).toMatchObject({ messages: [{ role: 'user', content: 'Say hello.' }] });
  });

  it('carries no key where there is none', async () => {
    const ask = await bridge({ apiKey: undefined });
    await ask();
    expect(chat.received[0]?.headers).not.toHaveProperty('authorization');
  });

  it('goes to the model that it names, where that is not the default one', async () => {
    const ask = await bridge();
    await ask({ model: 'qwen3:8b' });
    expect(chat.received[0]?.body).toMatchObject({ model: 'qwen3:8b' });
  });

  it('goes to the first model of the server where none is set for the default one', async () => {
    const ask = await bridge({ name: undefined });
    expect(await ask()).toMatchObject({ kind: 'text' });
    expect(chat.received).toMatchObject([
      { method: 'GET', path: '/v1/models', headers: { authorization: `Bearer ${key}` } },
      { method: 'POST', body: { model: 'llama' } },
    ]);
  });

  it('has no model to go to while the server has none', async () => {
    const ask = await bridge({ name: undefined });
    chat.models = json({ object: 'list', data: [] });
    expect(await ask()).toEqual(unknownModel);
    chat.models = json({ object: 'list', data: [{ id: 'pulled' }] });
    expect(await ask()).toMatchObject({ kind: 'text' });
    expect(chat.received.at(-1)?.body).toMatchObject({ model: 'pulled' });
  });

  it.each([
    ['a broken list', json({ data: 'none' })],
    ['no JSON', (response: ServerResponse) => response.end('Ollama is running')],
    ['an error', json({}, 500)],
  ])('meets a fault where the server answers %s for its models', async (_, models) => {
    const ask = await bridge({ name: undefined });
    chat.models = models;
    expect(await ask()).toEqual(broken);
  });
});

describe('an answer', () => {
  it.each([
    ['length', 'The answer of the model was longer than it may be.'],
    ['content_filter', 'The answer of the model was withheld by its content filter.'],
    ['tool_calls', 'The model requested a tool, but no tools are available.'],
    ['function_call', 'The model requested a tool, but no tools are available.'],
    ['eos_of_next_year', 'The model stopped for an unknown reason.'],
  ])('that finishes for %s is failed, with its tokens', async (reason, error) => {
    chat.chat = json(completion('Half of', reason));
    const ask = await bridge();
    expect(await ask()).toEqual({ kind: 'failed', error, tokens: 12 });
  });

  it.each([['' as unknown], [null], [undefined], [' \n']])('of %j is empty', async (content) => {
    chat.chat = json(completion(content));
    const ask = await bridge();
    expect(await ask()).toEqual({ kind: 'failed', error: 'The answer of the model was empty.', tokens: 12 });
  });

  it.each([
    ['no usage', undefined],
    ['an empty usage', {}],
    ['a usage of texts', { prompt_tokens: '7', completion_tokens: '5' }],
    ['null', null],
  ])('with %s is taken, at no known cost', async (_, usage) => {
    chat.chat = json(completion('Hello.', 'stop', { usage }));
    const ask = await bridge();
    expect(await ask()).toEqual({ kind: 'text', text: 'Hello.', tokens: 0 });
  });

  it.each([
    ['no choices', completion('', 'stop', { choices: [] })],
    ['choices of another kind', completion('', 'stop', { choices: 'Hello.' })],
    ['no message', completion('', 'stop', { choices: [{ finish_reason: 'stop' }] })],
    ['content of another kind', completion([{ type: 'text', text: 'Hello.' }])],
    ['no end', completion('Hello.', null)],
    ['an error in a good status', { error: { message: `No, ${key}.` } }],
    ['nothing', null],
  ])('with %s is a fault', async (_, body) => {
    chat.chat = json(body);
    const ask = await bridge();
    expect(await ask()).toEqual(broken);
  });

  it.each([
    ['broken JSON', (response: ServerResponse) => response.end('{"choices": [')],
    ['no JSON', (response: ServerResponse) => response.end('<html>Sign in</html>')],
    ['no bytes', (response: ServerResponse) => response.end()],
    ['a connection that is closed', (response: ServerResponse) => response.destroy()],
    [
      'a connection that is closed half way',
      (response: ServerResponse) =>
        response.writeHead(200, { 'Content-Length': '1000' }).write('{"cho', () => response.destroy()),
    ],
  ])('of %s is a fault', async (_, answer) => {
    chat.chat = answer;
    const ask = await bridge();
    expect(await ask()).toEqual(broken);
  });
});

describe('a refusal', () => {
  it.each([
    [400, notTaken],
    [401, noAccess],
    [402, noAccess],
    [403, noAccess],
    [404, unknownModel],
    [408, tooSlow],
    [413, notTaken],
    [422, notTaken],
    [429, { kind: 'throttled', tokens: 0 }],
    [500, broken],
    [502, broken],
    [503, broken],
    [504, tooSlow],
    [529, broken],
    [301, broken],
  ])('with status %i means what it would of Bedrock', async (status, answer) => {
    const headers = { 'Retry-After': '3600', Location: `${chat.baseUrl}/models` };
    chat.chat = json({ error: { message: `Incorrect API key provided: ${key}` } }, status, headers);
    const ask = await bridge();
    expect(await ask()).toEqual(answer);
    expect(chat.received).toHaveLength(1);
  });

  it.each([
    [401, 'AccessDeniedException', 403],
    [404, 'ResourceNotFoundException', 404],
    [429, 'ThrottlingException', 429],
    [500, 'ModelErrorException', 424],
    [502, 'ServiceUnavailableException', 503],
  ])('with status %i is answered as %s', async (status, name, bedrockStatus) => {
    chat.chat = json({ error: { message: key } }, status, { 'Retry-After': '1' });
    const server = { defaultModel: 'm', baseUrl: chat.baseUrl, apiKey: key, name: 'llama' };
    const command = new ConverseCommand({
      modelId: 'm',
      messages: [{ role: 'user', content: [{ text: 'Hi.' }] }],
      inferenceConfig: { maxTokens: 1 },
    });
    const { signal: abortSignal } = new AbortController();
    const error: Error = await converseClient(openChatBridge(server))
      .send(command, { abortSignal })
      .catch((failed) => failed);
    expect(error).toMatchObject({ name, $metadata: { httpStatusCode: bedrockStatus } });
    expect(error.message).not.toContain(key);
  });

  it('comes of a server that is not there', async () => {
    const ask = await bridge({ baseUrl: await closedEndpoint() });
    expect(await ask()).toEqual(broken);
  });
});

describe('a server that hangs', () => {
  it('is given up when its time is over', async () => {
    const deadline = new AbortController();
    chat.chat = () => deadline.abort();
    const ask = await bridge({ startDeadline: () => deadline.signal });
    expect(await ask()).toEqual(tooSlow);
  });

  it('is given up when its time is over half way', async () => {
    const deadline = new AbortController();
    chat.chat = (response) => response.writeHead(200).write('{"choices":', () => setImmediate(() => deadline.abort()));
    const ask = await bridge({ startDeadline: () => deadline.signal });
    expect(await ask()).toEqual(tooSlow);
  });

  it('is left by the bridge when the caller ends the call', async () => {
    const caller = new AbortController();
    const left = Promise.withResolvers<void>();
    chat.chat = (response) => {
      response.once('close', left.resolve);
      caller.abort();
    };
    const ask = await bridge();
    expect(await ask({ signal: caller.signal })).toEqual({ kind: 'aborted', tokens: 0 });
    await left.promise;
  });

  it('has four minutes where nothing else is passed in', async () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    const ask = await bridge();
    await ask();
    expect(timeout.mock.calls).toContainEqual([240_000]);
    timeout.mockRestore();
  });
});
