import { describe, expect, it } from 'vitest';
import { converseClient } from '../../../../infra/local/model/converse-client.ts';
import type { Rule } from '../../../../infra/local/model/model-script.ts';
import { createSimulator, type SimulatorOptions } from '../../../../infra/local/model/simulator.ts';
import { namedModels } from '../../../../lib/contract/models.ts';
import { createConverseModel, type Question } from '../../../../lib/model/converse.ts';

/** Returns a function that sends a prompt to a simulator through the model client. */
async function simulate(options: Partial<SimulatorOptions> = {}) {
  const model = createSimulator({ defaultModel: 'the-default', latencyMs: 0, rules: [], ...options });
  const ask = createConverseModel(converseClient(model));
  return (user: string, more: Partial<Question> = {}) =>
    ask({ model: 'the-default', system: '', user, maxTokens: 100, signal: new AbortController().signal, ...more });
}

const rule = (text: string, more: Partial<Rule> = {}): Rule => ({ match: (user) => user.includes(text), ...more });
const unknown = { kind: 'failed', error: 'There is no such model, or it cannot be used from here.', tokens: 0 };
const textOf = (answer: object) => ('text' in answer ? answer.text : answer);

describe('the simulator', () => {
  it('says that it is not a model, and quotes the prompt', async () => {
    const ask = await simulate();
    expect(textOf(await ask('Write  a\nhaiku.'))).toBe(
      'This is Crewboard\'s built-in simulator and not a model; nothing has been done. It was asked: "Write a haiku."',
    );
  });

  it('accepts the default models of this version and of earlier ones, which agents may still have', async () => {
    const ask = await simulate();
    for (const model of namedModels) expect(await ask('Hello?', { model })).toMatchObject({ kind: 'text' });
    expect(await ask('Hello?', { model: 'another' })).toEqual(unknown);
  });

  it('quotes only the start of a long prompt, and only whole characters', async () => {
    const ask = await simulate();
    const text = textOf(await ask(`a${'👋'.repeat(300)}`));
    expect(text).toMatch(/"a(👋){199}…"$/u);
  });

  it('counts a token for four characters of system prompt, user message and answer', async () => {
    const ask = await simulate({ rules: [rule('', { text: 'x'.repeat(41) })] });
    expect(await ask('y'.repeat(40), { system: 'z'.repeat(80) })).toMatchObject({ tokens: 20 + 10 + 11 });
  });

  it('passes every quality gate', async () => {
    const ask = await simulate();
    const answer = await ask('Is it good? End with this line:\nVERDICT: PASS or VERDICT: FAIL\nHere it is.');
    expect(answer).toMatchObject({ kind: 'text', text: 'VERDICT: PASS' });
  });

  it('distinguishes system prompts if a rule has a condition for them', async () => {
    const system = (text: string) => text.includes('short');
    const ask = await simulate({ rules: [rule('haiku', { system, text: 'Short.' }), rule('', { text: 'Any.' })] });
    expect(textOf(await ask('A haiku.', { system: 'Be short.' }))).toBe('Short.');
    expect(textOf(await ask('A haiku.', { system: 'Be long.' }))).toBe('Any.');
    expect(textOf(await ask('An ode.', { system: 'Be short.' }))).toBe('Any.');
  });

  it('rejects an unknown model as Bedrock does, but accepts the models of its script', async () => {
    const ask = await simulate({ rules: [rule('', { model: 'scripted', text: 'Yes.' })] });
    expect(await ask('Hello?', { model: 'another' })).toEqual(unknown);
    expect(await ask('Hello?', { model: 'scripted' })).toMatchObject({ text: 'Yes.' });
    expect(await ask('Hello?')).toMatchObject({ text: expect.stringContaining('simulator') });
  });
});

describe('a rule', () => {
  it('answers if it is the first match', async () => {
    const ask = await simulate({ rules: [rule('tea', { text: 'one' }), rule('green tea', { text: 'two' })] });
    expect(await ask('green tea')).toMatchObject({ text: 'one' });
    expect(await ask('coffee')).toMatchObject({ text: expect.stringContaining('simulator') });
  });

  it('does not match by the system prompt unless it has a condition for it', async () => {
    const ask = await simulate({ rules: [rule('tea', { text: 'one' })] });
    expect(textOf(await ask('coffee', { system: 'tea' }))).not.toBe('one');
  });

  it('for one model does not match another', async () => {
    const ask = await simulate({ rules: [rule('', { model: 'other', text: 'one' }), rule('', { text: 'two' })] });
    expect(await ask('Hello?')).toMatchObject({ text: 'two' });
    expect(await ask('Hello?', { model: 'other' })).toMatchObject({ text: 'one' });
  });

  it('with `times` applies that often, then the next rule applies', async () => {
    const ask = await simulate({ rules: [rule('', { times: 2, throttle: true }), rule('', { text: 'done' })] });
    const answers = [await ask('a'), await ask('b'), await ask('c'), await ask('d')];
    expect(answers.map(({ kind }) => kind)).toEqual(['throttled', 'throttled', 'text', 'text']);
  });

  it('can fail a quality gate', async () => {
    const ask = await simulate({ rules: [rule('VERDICT', { text: 'VERDICT: FAIL' })] });
    expect(await ask('VERDICT: PASS or VERDICT: FAIL')).toMatchObject({ text: 'VERDICT: FAIL' });
  });

  const noAccess = { kind: 'failed', error: 'This deployment has no access to the model.', tokens: 0 };
  it.each<[string, Partial<Rule>, object]>([
    ['a text', { text: 'Yes.' }, { kind: 'text', text: 'Yes.' }],
    ['an empty text', { text: '' }, { kind: 'failed', error: 'The answer of the model was empty.' }],
    ['throttling', { throttle: true }, { kind: 'throttled' }],
    ['throttling with a small letter', { error: 'throttlingException' }, { kind: 'throttled' }],
    ['an error', { error: 'AccessDeniedException' }, noAccess],
    ['a timeout', { error: 'ModelTimeoutException' }, { kind: 'faulty', error: 'The model took too long to answer.' }],
    [
      'a malformed response',
      { malformed: true },
      { kind: 'faulty', error: 'The answer of the model could not be read.' },
    ],
    ['a declined prompt', { refusal: true }, { kind: 'failed', error: 'The model refused to do this.' }],
    [
      'a stop reason',
      { stopReason: 'max_tokens' },
      { kind: 'failed', error: 'The answer of the model was longer than it may be.' },
    ],
  ])('can cause %s', async (_, outcome, answer) => {
    const ask = await simulate({ rules: [rule('', outcome)] });
    expect(await ask('Hello?')).toMatchObject(answer);
  });

  it.each([0, 1, 12, 100_000])('can report %i tokens', async (tokens) => {
    const ask = await simulate({ rules: [rule('', { text: 'Yes.', tokens })] });
    expect(await ask('Hello? '.repeat(10))).toMatchObject({ kind: 'text', tokens });
  });
});

describe('the latency', () => {
  const recordWaits = () => {
    const waits: number[] = [];
    const sleep = async (milliseconds: number) => waits.push(milliseconds);
    return { waits, sleep };
  };

  it('delays each answer, unless a rule has its own delay', async () => {
    const { waits, sleep } = recordWaits();
    const rules = [rule('slow', { text: 'Yes.', delayMs: 9_000 }), rule('quick', { text: 'Yes.', delayMs: 0 })];
    const ask = await simulate({ latencyMs: 700, rules, sleep });
    for (const user of ['slow', 'quick', 'else']) expect(await ask(user)).toMatchObject({ kind: 'text' });
    expect(waits).toEqual([9_000, 700]);
  });

  it('ends when the caller aborts the call', async () => {
    const caller = new AbortController();
    const slept = Promise.withResolvers<unknown>();
    const sleep = (_: number, signal: AbortSignal) => {
      signal.addEventListener('abort', slept.resolve);
      caller.abort();
      return slept.promise;
    };
    const ask = await simulate({ latencyMs: 1, sleep });
    expect(await ask('Hello?', { signal: caller.signal })).toEqual({ kind: 'aborted', tokens: 0 });
    await slept.promise;
  });

  it('uses the clock by default', async () => {
    const caller = new AbortController();
    const ask = await simulate({ rules: [rule('slow', { text: 'Yes.', delayMs: 600_000 })] });
    const slow = ask('slow', { signal: caller.signal });
    // An answer without a delay would have arrived after these calls.
    for (let nth = 0; nth < 3; nth++) expect(await ask('quick')).toMatchObject({ kind: 'text' });
    caller.abort();
    expect(await slow).toEqual({ kind: 'aborted', tokens: 0 });
  });
});
