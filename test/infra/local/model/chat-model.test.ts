import type { ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createChatModel, type ChatServer as Options } from '../../../../infra/local/model/chat-model.ts';
import { converseClient } from '../../../../infra/local/model/converse-client.ts';
import { formerStandardModels, standardModel } from '../../../../lib/contract/agents/models.ts';
import { createConverseModel, type ModelAnswer, type Question, type Turn } from '../../../../lib/model/converse.ts';
import { closedEndpoint } from '../../../model/bedrock-server.ts';
import { type ChatServer, completion, json, startChatServer } from './chat-server.ts';

const key = 'sk-never-to-be-seen';
const faulty = (error: unknown) => ({ kind: 'faulty', error, tokens: 0 });
const failed = (error: string, tokens = 0) => ({ kind: 'failed', error, tokens });
const unreadable = (tokens: number) => ({ ...faulty('The answer of the model could not be read.'), tokens });
const broken = faulty('The model could not be reached, or had a fault.');
const tooSlow = faulty('The model took too long to answer.');
const noAccess = failed('This deployment has no access to the model.');
const unknownModel = failed('There is no such model, or it cannot be used from here.');
const rejected = failed('The model rejected the request.');

let chat: ChatServer;
let failures: unknown[];
beforeEach(async () => {
  chat = await startChatServer();
  failures = [];
});

function ask(asked: Partial<Question> = {}, options: Partial<Options> = {}): Promise<ModelAnswer> {
  return openModel(options)(asked);
}

/** Returns a function that asks the same model again and again, as a process does. */
function openModel(options: Partial<Options> = {}): (asked?: Partial<Question>) => Promise<ModelAnswer> {
  const server = { defaultModel: 'the-default', baseUrl: chat.baseUrl, apiKey: key, name: 'llama', ...options };
  const { signal } = new AbortController();
  const question = { model: 'the-default', system: 'Be brief.', user: 'Say hello.', maxTokens: 100, signal };
  const client = converseClient(createChatModel(server), server.baseUrl);
  const model = createConverseModel(client, (error) => failures.push(error));
  return (asked = {}) => model({ ...question, ...asked });
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
    await ask({}, { apiKey: undefined });
    expect(chat.received[1]?.headers).not.toHaveProperty('authorization');
  });

  it.each<[string, Partial<Question>, Partial<Options>, object]>([
    ['an agent of an earlier version goes to the same model', { model: formerStandardModels[0] }, {}, {}],
    [
      'a thinking model has no tokens for thinking, because another model answers',
      { model: standardModel },
      { defaultModel: standardModel },
      { max_tokens: 100 },
    ],
    [
      'a thinking model with low effort has none either',
      { model: standardModel, effort: 'low' },
      { defaultModel: standardModel },
      { max_tokens: 100 },
    ],
    ['an agent without a system prompt has no system message', { system: '' }, {}, { messages: messages.slice(1) }],
    ['an agent with another model goes to that model', { model: 'qwen3:8b' }, {}, { model: 'qwen3:8b' }],
  ])('of %s', async (_, question, options, body) => {
    await ask(question, options);
    expect(chat.received[0]?.body).toMatchObject({ model: 'llama', ...body });
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

  it('for the default model goes past models for search', async () => {
    const ids = ['text-embedding-3-small', 'mxbai-EMBED-large', 'bge-reranker-v2-m3', 'pulled'];
    chat.models = json({ data: ids.map((id) => ({ id })) });
    await ask({}, { name: undefined });
    expect(chat.received.at(-1)?.body).toMatchObject({ model: 'pulled' });
  });

  it('asks for no more tokens than the settings allow', async () => {
    const limited = openModel({ maxTokens: 60 });
    await limited();
    await limited({ maxTokens: 20 });
    expect(chat.received.map(({ body }) => body)).toMatchObject([{ max_tokens: 60 }, { max_tokens: 20 }]);
  });

  it.each<object>([
    { message: 'No.', type: 'invalid_request_error', param: 'max_tokens', code: 'unsupported_parameter' },
    { message: "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'." },
    { message: 'Unrecognized request argument supplied: max_tokens' },
  ])('that is refused for max_tokens is sent with its successor, at once from then on: %j', async (error) => {
    chat.chat = (response) => {
      const isOld = 'max_tokens' in Object(chat.received.at(-1)?.body);
      return (isOld ? json({ error }, 400) : json(completion('Hello.')))(response);
    };
    const again = openModel();
    expect([await again(), await again()]).toMatchObject([{ kind: 'text' }, { kind: 'text' }]);
    await again({ model: 'other' });
    const limits = chat.received.map(({ body }) => ({ ...(body as object), messages: undefined, stream: undefined }));
    expect(limits).toEqual([
      { model: 'llama', max_tokens: 100 },
      { model: 'llama', max_completion_tokens: 100 },
      { model: 'llama', max_completion_tokens: 100 },
      { model: 'other', max_tokens: 100 },
      { model: 'other', max_completion_tokens: 100 },
    ]);
  });

  it('is not sent again if the value of max_tokens is refused', async () => {
    const message =
      "'max_tokens' or 'max_completion_tokens' is too large: 100. This model's maximum context length is 50 tokens.";
    chat.chat = json({ error: { message, type: 'BadRequestError', param: 'max_tokens', code: 400 } }, 400);
    expect(await ask()).toMatchObject({ kind: 'failed' });
    expect(chat.received).toHaveLength(1);
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
    ['MAX_TOKENS', 'The answer of the model was longer than it may be.'],
    ['model_length', 'The answer of the model was longer than it may be.'],
    ['content_filter', 'The answer of the model was withheld by its content filter.'],
    ['tool_calls', 'The model requested a tool, but no tools are available.'],
    ['function_call', 'The model requested a tool, but no tools are available.'],
  ])('that finishes with %s fails the call, and its tokens count', async (reason, error) => {
    chat.chat = json(completion('Half of', reason));
    expect(await ask()).toMatchObject(failed(error, 12));
  });

  it.each(['eos_token', 'eos', 'eos_of_next_year', 'STOP', '', null, undefined, 0, {}])(
    'that finishes with %j is whole',
    async (reason) => {
      chat.chat = json(completion('Work.', reason));
      expect(await ask()).toEqual({ kind: 'text', text: 'Work.', tokens: 12 });
    },
  );

  it.each<[unknown, string]>([
    [
      [
        { type: 'text', text: 'Wo' },
        { type: 'text', text: 'rk.' },
      ],
      'Work.',
    ],
    [
      [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
        { type: 'text', text: 'Work.' },
      ],
      'Work.',
    ],
    [['Wo', 'rk.'], 'Work.'],
    [{ type: 'text', text: 'Work.' }, 'Work.'],
    ['<think>maybe</think>\n\nWork.', 'Work.'],
    ['\n<THINK>\nmay<b>e\n</THINK>\nWork.', 'Work.'],
    ['<think></think><thinking>maybe</thinking> Work.', 'Work.'],
    ['<think>\nVERDICT: FAIL would be harsh.\n</think>\n\nGood.\nVERDICT: PASS', 'Good.\nVERDICT: PASS'],
    ['I should work.\n</think>\n\nWork.', 'Work.'],
    ['Use <think>x</think> like this.', 'Use <think>x</think> like this.'],
    ['Write:\n<think>\nx\n</think>\n', 'Write:\n<think>\nx\n</think>\n'],
    ['End thoughts with </think>.', 'End thoughts with </think>.'],
  ])('of %j has its text, without the thoughts at its start', async (content, text) => {
    chat.chat = json(completion(content));
    expect(await ask()).toEqual({ kind: 'text', text, tokens: 12 });
  });

  it.each<[unknown]>([[''], [null], [undefined], ['<think>maybe'], ['<think>maybe</think>\n'], [[]], [7]])(
    'of %j counts as empty',
    async (content) => {
      chat.chat = json(completion(content));
      expect(await ask()).toEqual(failed('The answer of the model was empty.', 12));
    },
  );

  it.each([
    [{ total_tokens: 12 }, 12],
    [{ prompt_tokens: null, completion_tokens: null, total_tokens: 12 }, 12],
    [{ prompt_tokens: 7, total_tokens: 12 }, 12],
    [{ completion_tokens: 5, total_tokens: 12 }, 12],
    [{ prompt_tokens: 7 }, 7],
    [{ prompt_tokens: 7, completion_tokens: 5, total_tokens: 20 }, 12],
  ])('with the usage %j counts %i tokens', async (usage, tokens) => {
    chat.chat = json(completion('Hello.', 'stop', { usage }));
    expect(await ask()).toMatchObject({ tokens });
  });

  it.each([undefined, {}, { prompt_tokens: '7', completion_tokens: '5' }, null])(
    'with the usage %j is accepted with 0 tokens',
    async (usage) => {
      chat.chat = json(completion('Hello.', 'stop', { usage }));
      expect(await ask()).toEqual({ kind: 'text', text: 'Hello.', tokens: 0 });
    },
  );

  it.each([
    ['no choices', completion('', 'stop', { choices: [] }), 12],
    ['choices of another kind', completion('', 'stop', { choices: 'Hello.' }), 12],
    ['no message', completion('', 'stop', { choices: [{ finish_reason: 'stop' }] }), 12],
    ['the finish of a fault', completion('Hel', 'error'), 12],
    ['an error with status 200', { error: { message: `No, ${key}.` } }, 0],
    ['nothing', null, 0],
  ])('with %s cannot be read, and its tokens count', async (_, answer, tokens) => {
    chat.chat = json(answer);
    expect(await ask()).toEqual(unreadable(tokens));
  });

  it.each([
    ['broken JSON', (response: ServerResponse) => response.end('{"choices": [')],
    ['no bytes', (response: ServerResponse) => response.end()],
  ])('with %s fails as a faulty model', async (_, answer) => {
    chat.chat = answer;
    expect(await ask()).toEqual(broken);
  });

  it('with a connection that is closed, also during the response, names the server', async () => {
    const close = (response: ServerResponse) => response.destroy();
    const start = (response: ServerResponse) => response.writeHead(200, { 'Content-Length': '1000' });
    const error = `The model server at ${chat.baseUrl} does not answer: `;
    for (const answer of [close, (to: ServerResponse) => start(to).write('{"cho', () => close(to))]) {
      chat.chat = answer;
      expect(await ask()).toEqual(faulty(expect.stringContaining(error)));
    }
  });

  it.each([
    [[400, 422], rejected],
    [[401, 403], noAccess],
    [[404], unknownModel],
    [[408, 504], tooSlow],
    [[429, 503, 529], { kind: 'throttled', tokens: 0 }],
    [[301, 500, 502], broken],
  ])('with one of the statuses %j has the same result as the error of Bedrock', async (statuses, answer) => {
    const headers = { 'Retry-After': '3600', Location: `${chat.baseUrl}/models` };
    for (const status of statuses) {
      chat.chat = json({ error: { message: `Incorrect API key provided: ${key}` } }, status, headers);
      expect([status, await ask()]).toEqual([status, answer]);
    }
    expect(chat.received).toHaveLength(statuses.length);
  });
});

describe('an error of the server', () => {
  const errorOf = async (status: number, error: object | string, asked: Partial<Question> = {}) => {
    chat.chat = json(typeof error === 'string' ? { error: { message: `${error} ${key}` } } : { error }, status);
    const answer = await ask(asked);
    expect(chat.received).toHaveLength(1);
    expect(JSON.stringify([answer, String(failures[0])])).not.toContain(key);
    return answer;
  };

  it.each<[number, object | string]>([
    [429, { message: 'No.', type: 'insufficient_quota', code: 'insufficient_quota' }],
    [429, 'You exceeded your current quota, please check your plan and billing details.'],
    [
      429,
      'Quota exceeded: GenerateRequestsPerDayPerProjectPerModel-FreeTier, please check your plan and billing details.',
    ],
    [402, 'Insufficient Balance'],
    [400, 'Your credit balance is too low to access the API.'],
    [403, { message: 'No.', code: 'billing_not_active' }],
  ])('%i that says that the account is exhausted fails at once: %j', async (status, error) => {
    const sentence = `The account at the model server ${chat.baseUrl} has no quota or no credit left; check its plan and billing.`;
    expect(await errorOf(status, error)).toEqual(failed(sentence));
  });

  it.each<[number, object | string]>([
    [429, { message: 'Rate limit reached for requests per min (RPM).', type: 'requests', code: 'rate_limit_exceeded' }],
    [429, 'You exceeded your current quota, please check your plan and billing details: PerMinute.'],
    [503, 'The model is overloaded.'],
    [503, 'Loading model'],
    [529, { type: 'overloaded_error', message: 'Overloaded' }],
  ])('%i that is over soon is throttling: %j', async (status, error) => {
    expect(await errorOf(status, error)).toEqual({ kind: 'throttled', tokens: 0 });
  });

  it.each<[number, object | string]>([
    [400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens."],
    [400, { message: 'No.', code: 'context_length_exceeded' }],
    [400, 'the request exceeds the available context size. try increasing the context size'],
    [422, 'Prompt is too long'],
    [
      400,
      'Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
    ],
  ])('%i that names the length of the input names it, too: %j', async (status, error) => {
    expect(await errorOf(status, error)).toEqual(
      failed(
        'The input is too long for the model, together with the room for the answer, which MODEL_MAX_TOKENS limits.',
      ),
    );
  });

  it.each<[number, string]>([
    [400, '"nomic-embed-text" does not support chat'],
    [400, 'This model cannot chat.'],
    [404, 'This is not a chat model and thus not supported in the v1/chat/completions endpoint.'],
  ])('%i that says that the model cannot chat says so: %j', async (status, error) => {
    expect(await errorOf(status, error)).toEqual(
      failed('The model cannot chat; give the agent another model, or set MODEL_NAME.'),
    );
  });

  it.each<[number, object | string]>([
    [400, { message: 'Invalid model identifier "gpt-4o".', param: 'model', code: 'model_not_found' }],
    [400, { message: 'No models loaded. Please load a model.', param: 'model', code: null }],
    [404, { message: 'Model "gpt-4o" not found.', param: 'model', code: 'model_not_found' }],
  ])('%i that says that the model does not exist says so: %j', async (status, error) => {
    expect(await errorOf(status, error)).toEqual(unknownModel);
  });

  it.each(['The model has crashed without additional information. (Exit code: 6)', 'Model unloaded.'])(
    '400 that says that the model has ended is a fault, which passes: %j',
    async (error) => {
      expect(await errorOf(400, error)).toEqual(broken);
    },
  );

  it.each<[unknown, object]>([
    [
      { code: 429, message: 'No.' },
      { kind: 'throttled', tokens: 0 },
    ],
    [{ code: 502, message: 'No.' }, broken],
    [{ code: 402, message: 'No.' }, failed(expect.stringContaining('has no quota or no credit left'))],
    ['Unexpected endpoint or method. (POST /chat/completions)', failed(expect.stringContaining('ends with /v1'))],
  ])('with status 200 has the result of the status that it names: %j', async (error, answer) => {
    chat.chat = json({ error });
    expect(await ask()).toEqual(answer);
  });

  it('of another kind does not blame the length of the input', async () => {
    expect(await errorOf(400, 'Invalid role.')).toEqual(rejected);
  });
});

describe('a model with tools', () => {
  const getTask = {
    ...{ name: 'get_task', description: 'Get a task.' },
    inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
  };
  const tools = [getTask];
  const called = (id: unknown, input: unknown, name = 'get_task') => ({
    ...{ id, type: 'function' },
    function: { name, arguments: input },
  });
  const calling = (calls: unknown, content: unknown = null, reason: unknown = 'tool_calls') =>
    json(
      completion(content, reason, { choices: [{ message: { content, tool_calls: calls }, finish_reason: reason }] }),
    );
  const callsOf = (answer: ModelAnswer) => (answer.kind === 'tools' ? answer.calls : answer);
  const messagesOf = ({ received }: ChatServer): unknown[] => Object(received.at(-1)?.body).messages;
  const idsOf = (answer: ModelAnswer) => (answer.kind === 'tools' ? answer.calls.map(({ id }) => id) : answer);

  /** Asks for calls, and returns their turn. */
  async function turnOf(calls: unknown, content?: string): Promise<Turn> {
    chat.chat = calling(calls, content);
    const answer = await ask({ tools });
    if (answer.kind !== 'tools') throw new Error(`The answer is ${answer.kind}.`);
    return {
      content: answer.content,
      results: answer.calls.map(({ id }) => ({ id, output: '{"n":1}', isError: true })),
    };
  }

  it('gets them as functions, and the results of its calls as messages of the role tool', async () => {
    const note = 'Your message could not be read.';
    const turns = [
      await turnOf([called('a', '{"id":"1"}'), called('b', '{}')], 'I read.'),
      await turnOf([called('c', '{}')]),
      { note },
    ];
    await ask({ tools, turns });
    const sent = (id: string, input: string) => ({
      id,
      type: 'function',
      function: { name: 'get_task', arguments: input },
    });
    const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: '{"n":1}' });
    expect(chat.received.at(-1)?.body).toEqual({
      model: 'llama',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Say hello.' },
        { role: 'assistant', content: 'I read.', tool_calls: [sent('a', '{"id":"1"}'), sent('b', '{}')] },
        ...[result('a'), result('b')],
        { role: 'assistant', content: '', tool_calls: [sent('c', '{}')] },
        ...[result('c'), { role: 'user', content: note }],
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'get_task', description: 'Get a task.', parameters: getTask.inputSchema },
        },
      ],
      ...{ max_tokens: 100, stream: false },
    });
  });

  it.each(['tool_calls', 'function_call', 'stop', 'eos_token', '', null, undefined])(
    'calls them, also if it finishes with %j',
    async (reason) => {
      chat.chat = calling([called('a', '{"id":"1"}'), called('b', '{"id":')], 'I read.', reason);
      expect(await ask({ tools })).toMatchObject({
        ...{ kind: 'tools', text: 'I read.', tokens: 12 },
        calls: [
          { id: 'a', name: 'get_task', input: { id: '1' } },
          { id: 'b', name: 'get_task', input: undefined },
        ],
      });
    },
  );

  it.each([
    ['an object', { id: '1' }, { id: '1' }],
    ['an empty text', '', {}],
    ['nothing', undefined, {}],
    ['a list', '[1]', undefined],
  ])('can have %s as arguments', async (_, input, expected) => {
    chat.chat = calling([called('a', input)]);
    expect(callsOf(await ask({ tools }))).toEqual([{ id: 'a', name: 'get_task', input: expected }]);
  });

  it('can leave out ids, repeat them or use invalid ones: each call gets one of its own', async () => {
    chat.chat = calling([
      called(undefined, '{}'),
      called('', '{}'),
      called('a', '{}'),
      called('a', '{}'),
      called('a b', '{}'),
    ]);
    const first = await ask({ tools });
    expect(idsOf(first)).toEqual(['call_0_0', 'call_0_1', 'a', 'call_0_3', 'call_0_4']);
    const turn = await turnOf([called('a', '{}'), called(null, '{}')]);
    chat.chat = calling([called('a', '{}'), called(null, '{}')]);
    expect(idsOf(await ask({ tools, turns: [turn] }))).toEqual(['call_2_0', 'call_2_1']);
  });

  it.each(['get_task<|channel|>commentary', 'get_task<|call|>', 'get_task <|im_end|>\n', ' get_task'])(
    'can name a tool as %j',
    async (name) => {
      const turn = await turnOf([called('a', '{}', name)]);
      chat.chat = calling([called('b', '{}', name)]);
      expect(callsOf(await ask({ tools, turns: [turn] }))).toMatchObject([{ name: 'get_task' }]);
      expect(messagesOf(chat)[2]).toMatchObject({ tool_calls: [{ function: { name: 'get_task' } }] });
    },
  );

  it('can have ids of any kind', async () => {
    chat.chat = calling([called(0, '{}'), called('functions.get_task:0', '{}'), called({}, '{}'), called(true, '{}')]);
    expect(idsOf(await ask({ tools }))).toEqual(['0', 'functions.get_task:0', 'call_0_2', 'call_0_3']);
  });

  it('gets members of its messages again that the service does not know, at the same places', async () => {
    const signed = { google: { thought_signature: 'c2ln' } };
    const message = {
      ...{ role: 'assistant', content: '<think>Hm.</think>I list', refusal: null, reasoning_content: 'I should list' },
      reasoning_details: [{ type: 'reasoning.text', text: 'I should list', index: 0 }],
      tool_calls: [
        { id: 'a', type: 'function', extra_content: signed, function: { name: 'get_task', arguments: '{}' } },
        { id: 'b', index: 1, type: 'function', function: { name: 'get_task', arguments: '{}', thought: 'x' } },
      ],
    };
    chat.chat = json(completion('', 'tool_calls', { choices: [{ message, finish_reason: 'tool_calls' }] }));
    const answer = await ask({ tools });
    if (answer.kind !== 'tools') throw new Error(`The answer is ${answer.kind}.`);
    expect(answer.text).toBe('I list');
    const turn = {
      content: answer.content,
      results: answer.calls.map(({ id }) => ({ id, output: '1', isError: false })),
    };
    await ask({ tools, turns: [turn] });
    const { refusal, ...sent } = message;
    expect(messagesOf(chat)[2]).toEqual(sent);
    const other = await startChatServer();
    await ask({ tools, turns: [turn] }, { baseUrl: other.baseUrl });
    expect(messagesOf(other)[2]).toEqual({
      ...{ role: 'assistant', content: 'I list' },
      tool_calls: ['a', 'b'].map((id) => ({ id, type: 'function', function: { name: 'get_task', arguments: '{}' } })),
    });
  });

  it('can answer with a text and an empty list of calls', async () => {
    for (const calls of [[], null, undefined]) {
      chat.chat = calling(calls, 'Done.', 'stop');
      expect(await ask({ tools })).toEqual({ kind: 'text', text: 'Done.', tokens: 12 });
    }
  });

  it.each<[string, Parameters<typeof calling>, object]>([
    [
      'is cut off',
      [[called('a', '{"id"')], '', 'length'],
      { ...failed('The answer of the model was longer than it may be.', 12), isCutOff: true },
    ],
    ['has no call', [[], 'I read.'], { ...faulty('The answer of the model could not be read.'), tokens: 12 }],
    ['has calls of another kind', [[{ id: 'a' }]], unreadable(12)],
  ])('fails if its answer %s', async (_, [...calls], answer) => {
    chat.chat = calling(...calls);
    expect(await ask({ tools })).toEqual(answer);
  });

  it('has sent a malformed call if the server could not read it', async () => {
    const error = { message: 'Failed to call a function.', type: 'invalid_request_error', code: 'tool_use_failed' };
    chat.chat = json({ error: { ...error, failed_generation: '<function=get_task{' } }, 400);
    expect(await ask({ tools })).toMatchObject({ kind: 'malformed' });
  });

  it('is not read for calls without tools', async () => {
    chat.chat = calling([called('a', '{}')], 'Hello.', 'stop');
    expect(await ask()).toEqual({ kind: 'text', text: 'Hello.', tokens: 12 });
  });

  it.each([
    'llama does not support tools',
    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
  ])('fails with what to do if the server says: %s', async (message) => {
    const error = 'The model cannot use tools; give the agent another model, or no capabilities.';
    chat.chat = json({ error: { message: `${message} ${key}` } }, 400);
    expect(await ask({ tools })).toEqual(failed(error));
    expect(String(failures[0])).not.toContain(key);
  });
});

describe('a server that does not answer', () => {
  it('fails the call with its URL and the cause, which are logged without a stack', async () => {
    const endpoint = await closedEndpoint();
    const cause = `connect ECONNREFUSED ${new URL(endpoint).host}`;
    const error = `The model server at ${endpoint}/v1 does not answer: ${cause}.`;
    expect(await ask({}, { baseUrl: `${endpoint}/v1` })).toEqual(faulty(error));
    expect(failures).toMatchObject([{ name: 'ModelServerError', message: error }]);
  });

  it('fails the call at the deadline, also during the response', async () => {
    for (const started of [false, true]) {
      const deadline = new AbortController();
      chat.chat = (response) => {
        if (started) response.writeHead(200).write('{"choices":', () => setImmediate(() => deadline.abort()));
        else deadline.abort();
      };
      expect(await ask({}, { startDeadline: () => deadline.signal })).toEqual(tooSlow);
    }
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
