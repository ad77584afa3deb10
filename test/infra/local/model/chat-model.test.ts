import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createChatModel, type ChatServer as Options } from '../../../../infra/local/model/chat-model.ts';
import { converseClient } from '../../../../infra/local/model/converse-client.ts';
import { formerStandardModels, standardModel } from '../../../../lib/contract/models.ts';
import { type Answer, createConverseModel, type Question } from '../../../../lib/model/converse.ts';
import { type ChatServer, completion, json, startChatServer } from './chat-server.ts';

const key = 'sk-never-to-be-seen';
const faulty = (error: unknown) => ({ kind: 'faulty', error, tokens: 0 });
const failed = (error: string, tokens = 0) => ({ kind: 'failed', error, tokens });
const broken = faulty('The model could not be reached, or had a fault.');
const tooSlow = faulty('The model took too long to answer.');
const noAccess = failed('This deployment has no access to the model.');
const unknownModel = failed('There is no such model, or it cannot be used from here.');
const rejected = failed('The model rejected the request; the input may be too long for it.');

let chat: ChatServer;
beforeEach(async () => {
  chat = await startChatServer();
});

/** Sends a prompt to the server through the model client. */
function ask(asked: Partial<Question> = {}, options: Partial<Options> = {}): Promise<Answer> {
  const server = { defaultModel: 'the-default', baseUrl: chat.baseUrl, apiKey: key, name: 'llama', ...options };
  const { signal } = new AbortController();
  const question = { model: 'the-default', system: 'Be brief.', user: 'Say hello.', maxTokens: 100, signal };
  return createConverseModel(converseClient(createChatModel(server)))({ ...question, ...asked });
}

describe('a request', () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Say hello.' },
  ];

  it('is sent in the chat protocol', async () => {
    expect(await ask()).toEqual({ kind: 'text', text: 'Hello.', tokens: 12 });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    expect(chat.received).toMatchObject([{ method: 'POST', path: '/v1/chat/completions', headers }]);
    expect(chat.received[0]?.body).toEqual({ model: 'llama', messages, max_tokens: 100, stream: false });
  });

  it.each<[string, Partial<Question>, Partial<Options>, object]>([
    ['an agent of an earlier version goes to the same model', { model: formerStandardModels[0] }, {}, {}],
    [
      'a thinking model has no tokens for thinking, because another model answers',
      { model: standardModel },
      { defaultModel: standardModel },
      { max_tokens: 100 },
    ],
    ['an agent without a system prompt has no system message', { system: '' }, {}, { messages: messages.slice(1) }],
    ['an agent with another model goes to that model', { model: 'qwen3:8b' }, {}, { model: 'qwen3:8b' }],
  ])('of %s', async (_, question, options, body) => {
    await ask(question, options);
    expect(chat.received[0]?.body).toMatchObject({ model: 'llama', ...body });
  });

  it('has no Authorization header without a key', async () => {
    await ask({}, { apiKey: undefined });
    expect(chat.received[0]?.headers).not.toHaveProperty('authorization');
  });

  it('for the default model goes to the first model of the server, if no name is set, and fails without one', async () => {
    chat.models = json({ object: 'list', data: [] });
    expect(await ask({}, { name: undefined })).toEqual(unknownModel);
    chat.models = json({ object: 'list', data: [{ id: 'pulled' }, { id: 'other' }] });
    expect(await ask({}, { name: undefined })).toMatchObject({ kind: 'text' });
    expect(chat.received.slice(1)).toMatchObject([
      { method: 'GET', path: '/v1/models', headers: { authorization: `Bearer ${key}` } },
      { method: 'POST', body: { model: 'pulled' } },
    ]);
  });

  it.each([
    ['a broken list', json({ data: 'none' })],
    ['plain text', (response: ServerResponse) => response.end('Ollama is running')],
    ['an error', json({}, 500)],
  ])('fails if the server answers with %s for its models', async (_, models) => {
    chat.models = models;
    expect(await ask({}, { name: undefined })).toEqual(broken);
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
    expect(await ask()).toEqual(failed(error, 12));
  });

  it.each([['' as unknown], [null], [undefined]])('of %j counts as empty', async (content) => {
    chat.chat = json(completion(content));
    expect(await ask()).toEqual(failed('The answer of the model was empty.', 12));
  });

  it.each([undefined, {}, { prompt_tokens: '7', completion_tokens: '5' }, null])(
    'with the usage %j is accepted with 0 tokens',
    async (usage) => {
      chat.chat = json(completion('Hello.', 'stop', { usage }));
      expect(await ask()).toEqual({ kind: 'text', text: 'Hello.', tokens: 0 });
    },
  );

  it.each([
    ['no choices', json(completion('', 'stop', { choices: [] }))],
    ['choices of another kind', json(completion('', 'stop', { choices: 'Hello.' }))],
    ['no message', json(completion('', 'stop', { choices: [{ finish_reason: 'stop' }] }))],
    ['content of another kind', json(completion([{ type: 'text', text: 'Hello.' }]))],
    ['no finish reason', json(completion('Hello.', null))],
    ['an error with status 200', json({ error: { message: `No, ${key}.` } })],
    ['nothing', json(null)],
    ['broken JSON', (response: ServerResponse) => response.end('{"choices": [')],
    ['no bytes', (response: ServerResponse) => response.end()],
  ])('with %s fails as a faulty model', async (_, answer) => {
    chat.chat = answer;
    expect(await ask()).toEqual(broken);
  });

  it.each([
    ['', (response: ServerResponse) => response.destroy()],
    [
      ' during the response',
      (response: ServerResponse) =>
        response.writeHead(200, { 'Content-Length': '1000' }).write('{"cho', () => response.destroy()),
    ],
  ])('with a connection that is closed%s names the server', async (_, answer) => {
    chat.chat = answer;
    const error = `The model server at ${chat.baseUrl} does not answer: `;
    expect(await ask()).toEqual(faulty(expect.stringContaining(error)));
  });

  it.each([
    [400, rejected],
    [401, noAccess],
    [402, noAccess],
    [403, noAccess],
    [404, unknownModel],
    [408, tooSlow],
    [422, rejected],
    [429, { kind: 'throttled', tokens: 0 }],
    [500, broken],
    [502, broken],
    [503, broken],
    [504, tooSlow],
    [301, broken],
  ])('with status %i has the same result as the error of Bedrock', async (status, answer) => {
    const headers = { 'Retry-After': '3600', Location: `${chat.baseUrl}/models` };
    chat.chat = json({ error: { message: `Incorrect API key provided: ${key}` } }, status, headers);
    expect(await ask()).toEqual(answer);
    expect(chat.received).toHaveLength(1);
  });
});

describe('a server that does not answer', () => {
  it.each([
    ['', (_: ServerResponse, abort: () => void) => abort()],
    [
      ', also during the response',
      (response: ServerResponse, abort: () => void) =>
        response.writeHead(200).write('{"choices":', () => setImmediate(abort)),
    ],
  ])('fails the call at the deadline%s', async (_, answer) => {
    const deadline = new AbortController();
    chat.chat = (response) => answer(response, () => deadline.abort());
    expect(await ask({}, { startDeadline: () => deadline.signal })).toEqual(tooSlow);
  });

  it('is disconnected when the caller aborts the call', async () => {
    const caller = new AbortController();
    const disconnected = Promise.withResolvers<void>();
    chat.chat = (response) => {
      response.once('close', disconnected.resolve);
      caller.abort();
    };
    expect(await ask({ signal: caller.signal })).toEqual({ kind: 'aborted', tokens: 0 });
    await disconnected.promise;
  });

  it('has four minutes by default', async () => {
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    await ask();
    expect(timeout.mock.calls).toContainEqual([240_000]);
    timeout.mockRestore();
  });
});
