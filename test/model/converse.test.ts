import type { ServerResponse } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { standardModel } from '../../lib/contract/models.ts';
import { createBedrockModel } from '../../lib/model/bedrock.ts';
import type { Answer, Model, Question } from '../../lib/model/converse.ts';
import { type BedrockServer, bedrockError, closedEndpoint, json, startBedrock } from './bedrock-server.ts';

let bedrock: BedrockServer;
let model: Model;

beforeAll(async () => {
  bedrock = await startBedrock();
  model = createBedrockModel({ MODEL_ENDPOINT: bedrock.endpoint });
});

const question = (more: Partial<Question> = {}): Question => ({
  model: 'a-model',
  system: 'You are brief.',
  user: 'Say hello.',
  maxTokens: 100,
  signal: new AbortController().signal,
  ...more,
});

/** Asks the model and lets the server send this response. */
function ask(answer: (response: ServerResponse) => void, more: Partial<Question> = {}): Promise<Answer> {
  bedrock.answer = answer;
  return model(question(more));
}

const usage = { inputTokens: 7, outputTokens: 5, totalTokens: 12 };
const saying = (content: unknown, more: object = {}) => ({
  output: { message: { role: 'assistant', content } },
  stopReason: 'end_turn',
  usage,
  metrics: { latencyMs: 1 },
  ...more,
});

const unreadable = { kind: 'faulty', error: 'The answer of the model could not be read.' };
const broken = { kind: 'faulty', error: 'The model could not be reached, or had a fault.' };
const tooSlow = { kind: 'faulty', error: 'The model took too long to answer.' };
const noAccess = { kind: 'failed', error: 'This deployment has no access to the model.' };
const unknownModel = { kind: 'failed', error: 'There is no such model, or it cannot be used from here.' };
const notTaken = { kind: 'failed', error: 'The model rejected the request; the input may be too long for it.' };
const empty = { kind: 'failed', error: 'The answer of the model was empty.' };

describe('a request', () => {
  it('is Converse with only the system prompt, one user message and a limit of tokens', async () => {
    const before = bedrock.received.length;
    await ask(json(saying([{ text: 'Hello.' }])), { system: 'Sois bref — “toujours”.\n', user: 'Dis\tbonjour 👋' });
    const [request, ...more] = bedrock.received.slice(before);
    expect(more).toEqual([]);
    expect(request).toMatchObject({ method: 'POST', path: '/model/a-model/converse' });
    expect(request?.body).toBe(
      '{"messages":[{"role":"user","content":[{"text":"Dis\\tbonjour 👋"}]}],"system":[{"text":"Sois bref — “toujours”.\\n"}],"inferenceConfig":{"maxTokens":100}}',
    );
  });

  it('has more tokens for a thinking model, and the effort if the caller sets it', async () => {
    const before = bedrock.received.length;
    const asked: Partial<Question>[] = [{ model: `eu.${standardModel}` }, { model: standardModel, effort: 'low' }];
    for (const more of [...asked, { effort: 'low' as const }]) await ask(json(saying([{ text: 'Yes.' }])), more);
    const bodies = bedrock.received.slice(before).map(({ body }) => JSON.parse(body));
    expect(bodies.map(({ inferenceConfig, outputConfig }) => [inferenceConfig, outputConfig])).toEqual([
      [{ maxTokens: 100 + 16_384 }, undefined],
      [{ maxTokens: 100 + 16_384 }, { effort: 'low' }],
      [{ maxTokens: 100 }, undefined],
    ]);
  });

  it('has the same bytes of the system prompt for every question and model', async () => {
    const before = bedrock.received.length;
    for (const more of [{ user: 'One thing.' }, { user: 'Another, and longer.', model: 'b', maxTokens: 5 }])
      await ask(json(saying([{ text: 'Yes.' }])), { system: 'Be é, "ü" and \u2028.', ...more });
    const systems = bedrock.received.slice(before).map(({ body }) => /"system":\[[^\]]*\]/.exec(body)?.[0]);
    expect(systems).toEqual(Array(2).fill('"system":[{"text":"Be é, \\"ü\\" and \u2028."}]'));
  });

  it.each(['', ' \n'])('has no system prompt if it is %j, because Bedrock rejects blank texts', async (system) => {
    await ask(json(saying([{ text: 'Hello.' }])), { system });
    expect(Object.keys(JSON.parse(bedrock.received.at(-1)?.body ?? ''))).toEqual(['messages', 'inferenceConfig']);
  });

  it.each([
    ['global.maker.model-20250929-v1:0', 'global.maker.model-20250929-v1%3A0'],
    ['arn:aws:bedrock:eu-west-1:1:application-inference-profile/a', null],
  ])('has the whole model id %s in its path', async (id, encoded) => {
    await ask(json(saying([{ text: 'Hello.' }])), { model: id });
    const path = bedrock.received.at(-1)?.path;
    expect(path).toBe(`/model/${encoded ?? encodeURIComponent(id)}/converse`);
  });

  it('is not retried after a failure', async () => {
    const before = bedrock.received.length;
    await ask(bedrockError(429, 'ThrottlingException'));
    await ask(bedrockError(503, 'ServiceUnavailableException'));
    await ask((response) => response.destroy());
    expect(bedrock.received.length - before).toBe(3);
  });
});

describe('an answer', () => {
  it.each(['end_turn', 'stop_sequence'])(
    'that stops with %s is its text with the number of tokens',
    async (stopReason) => {
      expect(await ask(json(saying([{ text: 'Hello.' }], { stopReason })))).toEqual({
        kind: 'text',
        text: 'Hello.',
        tokens: 12,
      });
    },
  );

  it('is the text of its text blocks', async () => {
    const content = [
      { reasoningContent: { reasoningText: { text: 'They want a greeting.', signature: 's' } } },
      { text: 'Hel' },
      { toolUse: { toolUseId: 't', name: 'greet', input: { text: 'no' } } },
      { somethingNew: { text: 'no' } },
      { text: 'lo.' },
    ];
    expect(await ask(json(saying(content)))).toEqual({ kind: 'text', text: 'Hello.', tokens: 12 });
  });

  it('keeps its text with white space', async () => {
    const text = '\n  {"a": 1}\u0000 \ud83d\udc4b\n';
    expect(await ask(json(saying([{ text }])))).toMatchObject({ kind: 'text', text });
  });

  it.each([
    ['no block', []],
    ['an empty text', [{ text: '' }]],
    ['white space', [{ text: ' \n' }, { text: '\t' }]],
    ['only thoughts', [{ reasoningContent: { reasoningText: { text: 'Hm.' } } }]],
  ])('with %s is empty', async (_, content) => {
    expect(await ask(json(saying(content)))).toEqual({ ...empty, tokens: 12 });
  });

  it.each([
    ['max_tokens', 'The answer of the model was longer than it may be.'],
    ['model_context_window_exceeded', 'The input is too long for the model.'],
    ['content_filtered', 'The answer of the model was withheld by its content filter.'],
    ['guardrail_intervened', 'A guardrail stopped the model.'],
    ['refusal', 'The model refused to do this.'],
    ['tool_use', 'The model requested a tool, but no tools are available.'],
    ['malformed_tool_use', 'The model requested a tool, but no tools are available.'],
    ['a_reason_of_next_year', 'The model stopped for an unknown reason.'],
    ['constructor', 'The model stopped for an unknown reason.'],
  ])('that stops with %s is failed, even with a text', async (stopReason, error) => {
    expect(await ask(json(saying([{ text: 'Half of' }], { stopReason })))).toEqual({
      kind: 'failed',
      error,
      tokens: 12,
    });
  });

  it('that Bedrock calls malformed is a temporary fault', async () => {
    const answer = saying([{ text: 'x' }], { stopReason: 'malformed_model_output' });
    expect(await ask(json(answer))).toEqual({ ...unreadable, tokens: 12 });
  });

  it.each([
    ['all', usage, 12],
    ['no total', { inputTokens: 7, outputTokens: 5 }, 12],
    ['only the input', { inputTokens: 7 }, 7],
    ['an empty usage', {}, 0],
    ['no usage', undefined, 0],
    ['null', null, 0],
    ['invalid numbers', { inputTokens: -1, outputTokens: 2.5, totalTokens: '12' }, 0],
  ])('has the number of tokens of a usage with %s', async (_, given, tokens) => {
    expect(await ask(json(saying([{ text: 'Hello.' }], { usage: given })))).toEqual({
      kind: 'text',
      text: 'Hello.',
      tokens,
    });
  });

  it.each([
    ['no reason for its end', saying([{ text: 'Hello.' }], { stopReason: undefined })],
    ['no output', saying([], { output: undefined })],
    ['no message', saying([], { output: {} })],
    ['no content', saying(undefined)],
    ['text for content', saying('Hello.')],
    ['a number for text', saying([{ text: 42 }])],
    ['text for output', saying([], { output: 'Hello.' })],
    ['nothing', {}],
    ['a list', []],
    ['a text', 'Hello.'],
    ['null', null],
  ])('with %s cannot be read', async (_, answer) => {
    expect(await ask(json(answer))).toMatchObject(unreadable);
  });

  it.each([
    ['not JSON', '<html>Welcome to the hotel</html>'],
    ['cut off', JSON.stringify(saying([{ text: 'Hello.' }])).slice(0, 40)],
    ['no bytes at all', ''],
  ])('that is %s cannot be read', async (_, body) => {
    expect(await ask((response) => response.end(body))).toEqual({ ...unreadable, tokens: 0 });
  });

  it('whose connection ends midway cannot be read', async () => {
    const answer = await ask((response) => {
      response.writeHead(200, { 'Content-Length': '1000' }).write('{"output":', () => response.destroy());
    });
    expect(answer).toEqual({ ...unreadable, tokens: 0 });
  });
});

describe('an error', () => {
  const identifier = 'The provided model identifier is invalid.';
  const onDemand =
    'Invocation of model ID a-model with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.';

  it.each([
    ['ThrottlingException', 429],
    ['throttlingException', 429],
    ['ThrottlingException', 400],
    ['throttlingException', 400],
    ['TooManyRequestsException', 400],
    ['ServiceQuotaExceededException', 400],
    ['ModelNotReadyException', 429],
    ['SomethingNewException', 429],
  ])('%s with status %i is throttling', async (name, status) => {
    expect(await ask(bedrockError(status, name))).toEqual({ kind: 'throttled', tokens: 0 });
  });

  it.each([
    [400, 'ValidationException', identifier, unknownModel],
    [400, 'validationException', identifier, unknownModel],
    [400, 'ValidationException', onDemand, unknownModel],
    [404, 'ResourceNotFoundException', 'Could not find it.', unknownModel],
    [400, 'ValidationException', 'Input is too long for requested model.', notTaken],
    [400, 'ValidationException', 'The maximum tokens you requested exceeds the model limit of 4096.', notTaken],
    [400, 'ConflictException', 'No.', notTaken],
    [404, 'UnknownOperationException', 'No.', notTaken],
    [413, 'SomethingNewException', 'No.', notTaken],
    [403, 'AccessDeniedException', "You don't have access to the model with the specified model ID.", noAccess],
    [403, 'ExpiredTokenException', 'The security token included in the request is expired', noAccess],
    [400, 'ExpiredTokenException', 'The security token included in the request is expired', noAccess],
    [403, 'UnrecognizedClientException', 'The security token included in the request is invalid.', noAccess],
    [403, 'InvalidSignatureException', 'The request signature we calculated does not match.', noAccess],
    [401, 'SomethingNewException', 'No.', noAccess],
    [408, 'ModelTimeoutException', 'No.', tooSlow],
    [408, 'SomethingNewException', 'No.', tooSlow],
    [504, 'SomethingNewException', 'No.', tooSlow],
    [424, 'ModelErrorException', 'No.', broken],
    [424, 'SomethingNewException', 'No.', broken],
    [500, 'InternalServerException', 'No.', broken],
    [503, 'ServiceUnavailableException', 'No.', broken],
    [500, 'constructor', 'No.', broken],
    [302, 'SomethingNewException', 'No.', broken],
  ])('%i %s (%s) is the right failure', async (status, name, message, failure) => {
    expect(await ask(bedrockError(status, name, message))).toEqual({ ...failure, tokens: 0 });
  });

  it.each([
    [429, { kind: 'throttled' }],
    [403, noAccess],
    [404, notTaken],
    [502, broken],
    [504, tooSlow],
  ])('%i without a name, for example of a proxy, is the failure of the status', async (status, failure) => {
    const page = (response: ServerResponse) => response.writeHead(status).end('<html>no</html>');
    expect(await ask(page)).toEqual({ ...failure, tokens: 0 });
    expect(await ask(json({}, status))).toEqual({ ...failure, tokens: 0 });
  });

  it('with its name in the body is recognized', async () => {
    const answer = json({ __type: 'com.amazon.coral.service#throttlingException', message: 'Slow down.' }, 400);
    expect(await ask(answer)).toEqual({ kind: 'throttled', tokens: 0 });
  });

  it('has no data of the account that Bedrock sends', async () => {
    const secret =
      'User: arn:aws:sts::123456789012:assumed-role/crew/run is not authorized to perform: bedrock:InvokeModel on https://bedrock-runtime.eu-west-1.amazonaws.com (AKIAEXAMPLE)';
    for (const [status, name] of [
      [403, 'AccessDeniedException'],
      [400, 'ValidationException'],
      [404, 'ResourceNotFoundException'],
      [500, 'InternalServerException'],
      [418, secret],
    ] as const) {
      const answer = await ask(json({ __type: name, message: secret }, status));
      expect(answer).toHaveProperty('error');
      expect(JSON.stringify(answer)).not.toMatch(/arn|1234|AKIA|eu-west|http|bedrock/i);
    }
  });

  it('of the network is a temporary fault', async () => {
    expect(await ask((response) => response.destroy())).toEqual({ ...broken, tokens: 0 });
    const unreachable = createBedrockModel({ MODEL_ENDPOINT: await closedEndpoint() });
    expect(await unreachable(question())).toEqual({ ...broken, tokens: 0 });
  });
});

describe('a call that its caller aborts', () => {
  it('is aborted before the response', async () => {
    const caller = new AbortController();
    const answer = await ask(() => caller.abort(new Error('enough')), { signal: caller.signal });
    expect(answer).toEqual({ kind: 'aborted', tokens: 0 });
  });

  it('is aborted during the response', async () => {
    const caller = new AbortController();
    const half = (response: ServerResponse) => {
      response.writeHead(200).write('{"output":', () => setImmediate(() => caller.abort()));
    };
    expect(await ask(half, { signal: caller.signal })).toEqual({ kind: 'aborted', tokens: 0 });
  });

  it('sends no request if it was aborted before it starts', async () => {
    const before = bedrock.received.length;
    expect(await ask(json(saying([{ text: 'Hello.' }])), { signal: AbortSignal.abort() })).toEqual({
      kind: 'aborted',
      tokens: 0,
    });
    expect(bedrock.received.length).toBe(before);
  });

  it('closes the connection, so that the model stops', async () => {
    const caller = new AbortController();
    const closed = Promise.withResolvers<void>();
    const hang = (response: ServerResponse) => {
      response.once('close', closed.resolve);
      caller.abort();
    };
    await ask(hang, { signal: caller.signal });
    await closed.promise;
  });
});
