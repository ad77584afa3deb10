import type { ServerResponse } from 'node:http';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { standardModel } from '../../lib/contract/agents/models.ts';
import { createBedrockModel } from '../../lib/model/bedrock.ts';
import type { Model, ModelAnswer, Question } from '../../lib/model/converse.ts';
import { failureOf } from '../../lib/model/failures.ts';
import { type BedrockServer, bedrockError, closedEndpoint, json, startBedrock } from './bedrock-server.ts';

let bedrock: BedrockServer;
let model: Model;
/** The original errors, which go to the log. */
const logged: Error[] = [];
const createModel = (endpoint: string) =>
  createBedrockModel({ MODEL_ENDPOINT: endpoint }, (error) => logged.push(error as Error));

beforeAll(async () => {
  bedrock = await startBedrock();
  model = createModel(bedrock.endpoint);
});

beforeEach(() => {
  bedrock.received.length = 0;
  logged.length = 0;
});

const question = (more: Partial<Question> = {}): Question => ({
  ...{ model: 'a-model', system: 'You are brief.', user: 'Say hello.', maxTokens: 100 },
  ...{ signal: new AbortController().signal, ...more },
});

/** Asks the model and lets the server send this response. */
function ask(answer: (response: ServerResponse) => void, more: Partial<Question> = {}): Promise<ModelAnswer> {
  bedrock.answer = answer;
  return model(question(more));
}

const saying = (content: unknown, more: object = {}) => ({
  output: { message: { role: 'assistant', content } },
  stopReason: 'end_turn',
  usage: { inputTokens: 7, outputTokens: 5, totalTokens: 12 },
  ...more,
});
const hello = (more: object = {}) => json(saying([{ text: 'Hello.' }], more));

const endMidway = (to: ServerResponse) =>
  to.writeHead(200, { 'Content-Length': '1000' }).write('{"output":', () => to.destroy());
const unreadable = { kind: 'faulty', error: 'The answer of the model could not be read.' };
const broken = { kind: 'faulty', error: 'The model could not be reached, or had a fault.' };
const tooLong = { kind: 'failed', error: 'The input is too long for the model.' };
const tooSlow = { kind: 'faulty', error: 'The model took too long to answer.' };
const noAccess = { kind: 'failed', error: 'This deployment has no access to the model.' };
const unknownModel = { kind: 'failed', error: 'There is no such model, or it cannot be used from here.' };
const noToolsError = 'The model cannot use tools; give the agent another model, or no capabilities.';
const noTools = { kind: 'failed', error: noToolsError };
const rejected = { kind: 'failed', error: 'The model rejected the request.' };

describe('a request', () => {
  it('is Converse with only the system prompt, one user message and a limit of tokens', async () => {
    await ask(hello(), { system: 'Sois bref — “toujours”.\n\u2028', user: 'Dis\tbonjour 👋' });
    expect(bedrock.received).toMatchObject([
      {
        ...{ method: 'POST', path: '/model/a-model/converse' },
        body: '{"messages":[{"role":"user","content":[{"text":"Dis\\tbonjour 👋"}]}],"system":[{"text":"Sois bref — “toujours”.\\n\u2028"}],"inferenceConfig":{"maxTokens":100}}',
      },
    ]);
  });

  it.each<[Partial<Question>, number, object]>([
    [{ model: `eu.${standardModel}` }, 100 + 16_384, {}],
    [{ model: standardModel, effort: 'low' }, 100 + 2_048, { outputConfig: { effort: 'low' } }],
    [{ effort: 'low' }, 100, {}],
  ])('has more tokens for a thinking model, and its effort if the caller sets it: %j', async (more, tokens, effort) => {
    await ask(hello(), more);
    const { messages, system, ...rest } = JSON.parse(bedrock.received[0]?.body ?? '');
    expect(rest).toEqual({ inferenceConfig: { maxTokens: tokens }, ...effort });
  });

  it('has no blank system prompt, because Bedrock rejects blank texts, and the whole model id in its path', async () => {
    const model = 'arn:aws:bedrock:eu-west-1:1:application-inference-profile/a';
    for (const system of ['', ' \n']) await ask(hello(), { system, model });
    for (const { path, body } of bedrock.received) {
      expect(JSON.parse(body)).not.toHaveProperty('system');
      expect(path).toBe(`/model/${encodeURIComponent(model)}/converse`);
    }
  });

  it('is not retried after a failure', async () => {
    await ask(bedrockError(429, 'ThrottlingException'));
    await ask(bedrockError(503, 'ServiceUnavailableException'));
    await ask((response) => response.destroy());
    expect(bedrock.received).toHaveLength(3);
  });
});

describe('an answer', () => {
  it.each(['end_turn', 'stop_sequence'])('that stops with %s is the text of its text blocks', async (stopReason) => {
    const content = [
      { reasoningContent: { reasoningText: { text: 'They want a greeting.', signature: 's' } } },
      { text: '\n  {"a": \u0000' },
      { toolUse: { toolUseId: 't', name: 'greet', input: { text: 'no' } } },
      { somethingNew: { text: 'no' } },
      { text: '👋}\n' },
    ];
    const text = '\n  {"a": \u0000👋}\n';
    expect(await ask(json(saying(content, { stopReason })))).toEqual({ kind: 'text', text, tokens: 12 });
  });

  it.each([
    ['no block', []],
    ['white space', [{ text: ' \n' }, { text: '\t' }]],
    ['only thoughts', [{ reasoningContent: { reasoningText: { text: 'Hm.' } } }]],
  ])('with %s is empty', async (_, content) => {
    const error = 'The answer of the model was empty.';
    expect(await ask(json(saying(content)))).toEqual({ kind: 'failed', error, tokens: 12 });
  });

  it.each([
    ['max_tokens', 'The answer of the model was longer than it may be.'],
    ['model_context_window_exceeded', 'The input is too long for the model.'],
    ['content_filtered', 'The answer of the model was withheld by its content filter.'],
    ['guardrail_intervened', 'A guardrail stopped the model.'],
    ['refusal', 'The model refused to do this.'],
    ['tool_use', 'The model requested a tool, but no tools are available.'],
    ['malformed_tool_use', 'The model requested a tool, but no tools are available.'],
    ['constructor', 'The model stopped for an unknown reason.'],
  ])('that stops with %s is failed, even with a text', async (stopReason, error) => {
    expect(await ask(hello({ stopReason }))).toMatchObject({ kind: 'failed', error, tokens: 12 });
  });

  it.each([
    ['no total', { inputTokens: 7, outputTokens: 5 }, 12],
    ['only the input', { inputTokens: 7 }, 7],
    ['no usage', undefined, 0],
    ['null', null, 0],
    ['invalid numbers', { inputTokens: -1, outputTokens: 2.5, totalTokens: '12' }, 0],
  ])('has the number of tokens of a usage with %s', async (_, usage, tokens) => {
    expect(await ask(hello({ usage }))).toEqual({ kind: 'text', text: 'Hello.', tokens });
  });

  it.each([
    ['that Bedrock calls malformed', hello({ stopReason: 'malformed_model_output' }), 12],
    ['with no reason for its end', hello({ stopReason: undefined }), 12],
    ['with no output', hello({ output: undefined }), 12],
    ['with no message', hello({ output: {} }), 12],
    ['with text for content', json(saying('Hello.')), 12],
    ['with a number for text', json(saying([{ text: 42 }])), 12],
    ['with a list', json([]), 0],
    ['with null', json(null), 0],
    ['that is not JSON', (to: ServerResponse) => to.end('<html>Welcome to the hotel</html>'), 0],
    ['that is cut off', (to: ServerResponse) => to.end(JSON.stringify(saying([])).slice(0, 40)), 0],
    ['without any bytes', (to: ServerResponse) => to.end(), 0],
    ['whose connection ends midway', endMidway, 0],
  ])('%s cannot be read', async (_, answer, tokens) => {
    expect(await ask(answer)).toEqual({ ...unreadable, tokens });
  });
});

describe('an error', () => {
  const identifier = 'The provided model identifier is invalid.';
  const onDemand =
    'Invocation of model ID a-model with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.';

  const throttled = (name: string): [number, string, string, object] => [400, name, 'No.', { kind: 'throttled' }];

  it.each<[number, string, string, object]>([
    ...['ThrottlingException', 'throttlingException', 'TooManyRequestsException'].map(throttled),
    ...['ServiceQuotaExceededException', 'ModelNotReadyException'].map(throttled),
    [429, 'SomethingNewException', 'No.', { kind: 'throttled' }],
    [503, 'ServiceUnavailableException', 'No.', { kind: 'throttled' }],
    [400, 'ValidationException', 'Input is too long for requested model.', tooLong],
    [400, 'ValidationException', identifier, unknownModel],
    [400, 'validationException', onDemand, unknownModel],
    [404, 'ResourceNotFoundException', 'Could not find it.', unknownModel],
    [400, 'ValidationException', 'The maximum tokens you requested exceeds the model limit of 4096.', rejected],
    [400, 'ValidationException', "This model doesn't support tool use.", noTools],
    [400, 'ConflictException', 'No.', rejected],
    [404, 'UnknownOperationException', 'No.', rejected],
    [403, 'AccessDeniedException', "You don't have access to the model with the specified model ID.", noAccess],
    [400, 'ExpiredTokenException', 'The security token included in the request is expired', noAccess],
    [400, 'UnrecognizedClientException', 'The security token included in the request is invalid.', noAccess],
    [401, 'SomethingNewException', 'No.', noAccess],
    [400, 'ModelTimeoutException', 'No.', tooSlow],
    [408, 'SomethingNewException', 'No.', tooSlow],
    [400, 'ModelErrorException', 'No.', broken],
    [424, 'SomethingNewException', 'No.', broken],
    [500, 'constructor', 'No.', broken],
    [302, 'SomethingNewException', 'No.', broken],
  ])('%i %s (%s) is the right failure', async (status, name, message, failure) => {
    expect(await ask(bedrockError(status, name, message))).toEqual({ ...failure, tokens: 0 });
  });

  it.each([
    [429, { kind: 'throttled' }],
    [503, { kind: 'throttled' }],
    [529, { kind: 'throttled' }],
    [403, noAccess],
    [404, rejected],
    [502, broken],
    [504, tooSlow],
  ])('%i without a name, for example of a proxy, is the failure of the status', async (status, failure) => {
    const html = (response: ServerResponse) => response.writeHead(status).end('<html>no</html>');
    for (const answer of [html, json({}, status)]) expect(await ask(answer)).toEqual({ ...failure, tokens: 0 });
  });

  it('with its name in the body is recognized', async () => {
    const answer = json({ __type: 'com.amazon.coral.service#throttlingException', message: 'Slow down.' }, 400);
    expect(await ask(answer)).toEqual({ kind: 'throttled', tokens: 0 });
  });

  const secret =
    'User: arn:aws:sts::123456789012:assumed-role/crew/run is not authorized to perform: bedrock:InvokeModel on https://bedrock-runtime.eu-west-1.amazonaws.com (AKIAEXAMPLE)';

  it.each([
    [403, 'AccessDeniedException'],
    [400, 'ValidationException'],
    [404, 'ResourceNotFoundException'],
    [500, 'InternalServerException'],
    [418, secret],
  ])('%i %.30s has data of the account in the log, and not in its answer', async (status, name) => {
    const answer = await ask(json({ __type: name, message: secret }, status));
    expect(answer).toHaveProperty('error');
    expect(JSON.stringify(answer)).not.toMatch(/arn|1234|AKIA|eu-west|http|bedrock/i);
    expect(logged.map(({ message }) => message)).toEqual([secret]);
  });

  it('of the network is a temporary fault, and goes to the log; throttling, an aborted call and an answer do not', async () => {
    await ask(bedrockError(429, 'ThrottlingException', 'Too many requests.'));
    await ask(hello(), { signal: AbortSignal.abort() });
    await ask(hello());
    expect(logged).toEqual([]);
    const unreachable = createModel(await closedEndpoint());
    expect(await ask((response) => response.destroy())).toEqual({ ...broken, tokens: 0 });
    expect(await unreachable(question())).toEqual({ ...broken, tokens: 0 });
    expect(logged).toHaveLength(2);
  });
});

describe('a call that its caller aborts', () => {
  const aborted = { kind: 'aborted', tokens: 0 };

  it('is aborted before the response, and closes the connection, so that the model stops', async () => {
    const caller = new AbortController();
    const closed = Promise.withResolvers<void>();
    const hang = (response: ServerResponse) => {
      response.once('close', closed.resolve);
      caller.abort(new Error('enough'));
    };
    expect(await ask(hang, { signal: caller.signal })).toEqual(aborted);
    await closed.promise;
  });

  it('is aborted during the response, and sends no request if it was aborted before it starts', async () => {
    const caller = new AbortController();
    const half = (response: ServerResponse) => {
      response.writeHead(200).write('{"output":', () => setImmediate(() => caller.abort()));
    };
    expect(await ask(half, { signal: caller.signal })).toEqual(aborted);
    expect(await ask(hello(), { signal: caller.signal })).toEqual(aborted);
    expect(bedrock.received).toHaveLength(1);
  });
});

/** Returns an error of the client itself. */
const named = (name: string) => Object.assign(new Error('/home/me/.aws/config has no profile "crew"'), { name });

it.each([
  ['missing credentials', named('CredentialsProviderError'), noAccess],
  ['a token that cannot be renewed', named('TokenProviderError'), noAccess],
  ['a connection that takes too long', named('TimeoutError'), broken],
  ['a text', 'oh', broken],
  ['nothing', undefined, broken],
])('the failure of %s', (_, error, failure) => {
  expect(failureOf(error)).toEqual(failure);
});
