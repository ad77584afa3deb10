import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createChatModel, type ChatServer as Options } from '../../../../infra/local/model/chat-model.ts';
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

/** Returns a function that sends a prompt to the server through the model client. */
async function connect(more: Partial<Options> = {}) {
  const server = { defaultModel: 'the-default', baseUrl: chat.baseUrl, apiKey: key, name: 'llama', ...more };
  const ask = createConverseModel(converseClient(createChatModel(server)));
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

describe('a request', () => {
  it('of an agent with the default model of an earlier version goes to the same model', async () => {
    const ask = await connect();
    await ask({ model: formerStandardModels[0] });
    expect(chat.received.at(-1)?.body).toMatchObject({ model: 'llama' });
  });

  it('has no tokens for thinking, because another model than the named one answers', async () => {
    const ask = await connect({ defaultModel: standardModel });
    await ask({ model: standardModel });
    expect(chat.received.at(-1)?.body).toMatchObject({ model: 'llama', max_tokens: 100 });
  });

  it('is sent in the chat protocol', async () => {
    const ask = await connect();
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

  it('has no system message without a system prompt', async () => {
    const ask = await connect();
    await ask({ system: '' });
    expect(chat.received[0]?.body).toMatchObject({ messages: [{ role: 'user', content: 'Say hello.' }] });
  });

  it('has no Authorization header without a key', async () => {
    const ask = await connect({ apiKey: undefined });
    await ask();
    expect(chat.received[0]?.headers).not.toHaveProperty('authorization');
  });

  it('goes to the model that it names, if that is not the default model', async () => {
    const ask = await connect();
    await ask({ model: 'qwen3:8b' });
    expect(chat.received[0]?.body).toMatchObject({ model: 'qwen3:8b' });
  });

  it('for the default model goes to the first model of the server, if no name is set', async () => {
    const ask = await connect({ name: undefined });
    expect(await ask()).toMatchObject({ kind: 'text' });
    expect(chat.received).toMatchObject([
      { method: 'GET', path: '/v1/models', headers: { authorization: `Bearer ${key}` } },
      { method: 'POST', body: { model: 'llama' } },
    ]);
  });

  it('fails while the server has no model', async () => {
    const ask = await connect({ name: undefined });
    chat.models = json({ object: 'list', data: [] });
    expect(await ask()).toEqual(unknownModel);
    chat.models = json({ object: 'list', data: [{ id: 'pulled' }] });
    expect(await ask()).toMatchObject({ kind: 'text' });
    expect(chat.received.at(-1)?.body).toMatchObject({ model: 'pulled' });
  });

  it.each([
    ['a broken list', json({ data: 'none' })],
    ['plain text', (response: ServerResponse) => response.end('Ollama is running')],
    ['an error', json({}, 500)],
  ])('fails if the server answers with %s for its models', async (_, models) => {
    const ask = await connect({ name: undefined });
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
  ])('that finishes with %s fails the call, and its tokens count', async (reason, error) => {
    chat.chat = json(completion('Half of', reason));
    const ask = await connect();
    expect(await ask()).toEqual({ kind: 'failed', error, tokens: 12 });
  });

  it.each([['' as unknown], [null], [undefined], [' \n']])('of %j counts as empty', async (content) => {
    chat.chat = json(completion(content));
    const ask = await connect();
    expect(await ask()).toEqual({ kind: 'failed', error: 'The answer of the model was empty.', tokens: 12 });
  });

  it.each([
    ['no usage', undefined],
    ['an empty usage', {}],
    ['a usage of strings', { prompt_tokens: '7', completion_tokens: '5' }],
    ['null', null],
  ])('with %s is accepted with 0 tokens', async (_, usage) => {
    chat.chat = json(completion('Hello.', 'stop', { usage }));
    const ask = await connect();
    expect(await ask()).toEqual({ kind: 'text', text: 'Hello.', tokens: 0 });
  });

  it.each([
    ['no choices', completion('', 'stop', { choices: [] })],
    ['choices of another kind', completion('', 'stop', { choices: 'Hello.' })],
    ['no message', completion('', 'stop', { choices: [{ finish_reason: 'stop' }] })],
    ['content of another kind', completion([{ type: 'text', text: 'Hello.' }])],
    ['no finish reason', completion('Hello.', null)],
    ['an error with status 200', { error: { message: `No, ${key}.` } }],
    ['nothing', null],
  ])('with %s fails as a faulty model', async (_, body) => {
    chat.chat = json(body);
    const ask = await connect();
    expect(await ask()).toEqual(broken);
  });

  it.each([
    ['broken JSON', (response: ServerResponse) => response.end('{"choices": [')],
    ['HTML', (response: ServerResponse) => response.end('<html>Sign in</html>')],
    ['no bytes', (response: ServerResponse) => response.end()],
    ['a connection that is closed', (response: ServerResponse) => response.destroy()],
    [
      'a connection that is closed during the response',
      (response: ServerResponse) =>
        response.writeHead(200, { 'Content-Length': '1000' }).write('{"cho', () => response.destroy()),
    ],
  ])('of %s fails as a faulty model', async (_, answer) => {
    chat.chat = answer;
    const ask = await connect();
    expect(await ask()).toEqual(broken);
  });
});

describe('an error', () => {
  it.each([
    [400, notTaken],
    [401, noAccess],
    [403, noAccess],
    [404, unknownModel],
    [408, tooSlow],
    [413, notTaken],
    [422, notTaken],
    [429, { kind: 'throttled', tokens: 0 }],
    [500, broken],
    [503, broken],
    [504, tooSlow],
    [301, broken],
  ])('with status %i has the same result as the error of Bedrock', async (status, answer) => {
    const headers = { 'Retry-After': '3600', Location: `${chat.baseUrl}/models` };
    chat.chat = json({ error: { message: `Incorrect API key provided: ${key}` } }, status, headers);
    const ask = await connect();
    expect(await ask()).toEqual(answer);
    expect(chat.received).toHaveLength(1);
  });

  it('is returned if no server listens', async () => {
    const ask = await connect({ baseUrl: await closedEndpoint() });
    expect(await ask()).toEqual(broken);
  });
});

describe('a server that does not answer', () => {
  it('fails the call at the deadline', async () => {
    const deadline = new AbortController();
    chat.chat = () => deadline.abort();
    const ask = await connect({ startDeadline: () => deadline.signal });
    expect(await ask()).toEqual(tooSlow);
  });

  it('fails the call at the deadline, also during the response', async () => {
    const deadline = new AbortController();
    chat.chat = (response) => response.writeHead(200).write('{"choices":', () => setImmediate(() => deadline.abort()));
    const ask = await connect({ startDeadline: () => deadline.signal });
    expect(await ask()).toEqual(tooSlow);
  });

  it('is disconnected when the caller aborts the call', async () => {
    const caller = new AbortController();
    const disconnected = Promise.withResolvers<void>();
    chat.chat = (response) => {
      response.once('close', disconnected.resolve);
      caller.abort();
    };
    const ask = await connect();
    expect(await ask({ signal: caller.signal })).toEqual({ kind: 'aborted', tokens: 0 });
    await disconnected.promise;
  });

  it('has four minutes by default', async () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    const ask = await connect();
    await ask();
    expect(timeout.mock.calls).toContainEqual([240_000]);
    timeout.mockRestore();
  });
});
