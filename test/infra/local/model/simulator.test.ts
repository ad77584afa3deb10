import { describe, expect, it, vi } from 'vitest';
import { converseClient } from '../../../../infra/local/model/converse-client.ts';
import type { Rule } from '../../../../infra/local/model/model-script.ts';
import { createSimulator, type SimulatorOptions } from '../../../../infra/local/model/simulator.ts';
import { namedModels } from '../../../../lib/contract/models.ts';
import { createConverseModel, type Question } from '../../../../lib/model/converse.ts';

/** Returns a function that sends a prompt to a simulator through the model client. */
function simulate(rules: Rule[] = [], options: Partial<SimulatorOptions> = {}) {
  const model = createSimulator({ defaultModel: 'the-default', latencyMs: 0, rules, ...options });
  const ask = createConverseModel(converseClient(model));
  const { signal } = new AbortController();
  return (user: string, more: Partial<Question> = {}) =>
    ask({ model: 'the-default', system: '', user, maxTokens: 100, signal, ...more });
}

const rule = (text: string, more: Partial<Rule> = {}): Rule => ({ match: (user) => user.includes(text), ...more });
const failed = (error: string) => ({ kind: 'failed', error });
const unknown = failed('There is no such model, or it cannot be used from here.');
const textOf = (answer: object) => ('text' in answer ? answer.text : answer);

describe('the simulator', () => {
  it('says that it is not a model, and quotes the prompt', async () => {
    expect(textOf(await simulate()('Write  a\nhaiku.'))).toBe(
      'This is Crewboard\'s built-in simulator and not a model; nothing has been done. It was asked: "Write a haiku."',
    );
  });

  it('quotes only the start of a long prompt, and only whole characters', async () => {
    expect(textOf(await simulate()(`a${'👋'.repeat(300)}`))).toMatch(/"a(👋){199}…"$/u);
  });

  it('counts a token for four characters of system prompt, user message and answer', async () => {
    const ask = simulate([rule('', { text: 'x'.repeat(41) })]);
    expect(await ask('y'.repeat(40), { system: 'z'.repeat(80) })).toMatchObject({ tokens: 20 + 10 + 11 });
  });

  it('passes every quality gate', async () => {
    const answer = await simulate()('Is it good? End with this line:\nVERDICT: PASS or VERDICT: FAIL\nHere it is.');
    expect(answer).toMatchObject({ kind: 'text', text: 'VERDICT: PASS' });
  });

  it('accepts the default models of this version and of earlier ones, and those of its script, and no others', async () => {
    const ask = simulate([rule('', { model: 'scripted', text: 'Yes.' })]);
    for (const model of ['the-default', ...namedModels])
      expect(textOf(await ask('Hello?', { model }))).toMatch(/simulator/);
    expect(textOf(await ask('Hello?', { model: 'scripted' }))).toBe('Yes.');
    expect(await ask('Hello?', { model: 'another' })).toMatchObject(unknown);
  });
});

describe('a rule', () => {
  it('answers if it is the first match', async () => {
    const ask = simulate([rule('tea', { text: 'one' }), rule('green tea', { text: 'two' })]);
    expect(textOf(await ask('green tea'))).toBe('one');
    expect(textOf(await ask('coffee', { system: 'tea' }))).toMatch(/simulator/);
  });

  it('with a condition for the system prompt needs both to match', async () => {
    const system = (text: string) => text.includes('short');
    const ask = simulate([rule('haiku', { system, text: 'Short.' }), rule('', { text: 'Any.' })]);
    expect(textOf(await ask('A haiku.', { system: 'Be short.' }))).toBe('Short.');
    expect(textOf(await ask('A haiku.', { system: 'Be long.' }))).toBe('Any.');
    expect(textOf(await ask('An ode.', { system: 'Be short.' }))).toBe('Any.');
  });

  it('for one model does not match another', async () => {
    const ask = simulate([rule('', { model: 'other', text: 'one' }), rule('', { text: 'two' })]);
    expect(textOf(await ask('Hello?'))).toBe('two');
    expect(textOf(await ask('Hello?', { model: 'other' }))).toBe('one');
  });

  it('with `times` applies that often, then the next rule applies', async () => {
    const ask = simulate([rule('', { times: 2, throttle: true }), rule('', { text: 'done' })]);
    const kinds: string[] = [];
    for (const user of 'abcd') kinds.push((await ask(user)).kind);
    expect(kinds).toEqual(['throttled', 'throttled', 'text', 'text']);
  });

  it.each<[string, Partial<Rule>, object]>([
    ['a failed quality gate', { text: 'VERDICT: FAIL' }, { kind: 'text', text: 'VERDICT: FAIL' }],
    ['an empty text', { text: '' }, failed('The answer of the model was empty.')],
    ['throttling', { throttle: true }, { kind: 'throttled' }],
    ['throttling with a small letter', { error: 'throttlingException' }, { kind: 'throttled' }],
    ['an error', { error: 'AccessDeniedException' }, failed('This deployment has no access to the model.')],
    ['a timeout', { error: 'ModelTimeoutException' }, { kind: 'faulty', error: 'The model took too long to answer.' }],
    ['a malformed response', { malformed: true }, { kind: 'faulty', error: expect.stringContaining('be read') }],
    ['a declined prompt', { refusal: true }, failed('The model refused to do this.')],
    ['a stop reason', { stopReason: 'max_tokens' }, failed('The answer of the model was longer than it may be.')],
  ])('can cause %s', async (_, outcome, answer) => {
    expect(await simulate([rule('', outcome)])('VERDICT: PASS or VERDICT: FAIL')).toMatchObject(answer);
  });

  it.each([0, 1, 12, 100_000])('can report %i tokens', async (tokens) => {
    const ask = simulate([rule('', { text: 'Yes.', tokens })]);
    expect(await ask('Hello? '.repeat(10))).toMatchObject({ kind: 'text', tokens });
  });
});

describe('the latency', () => {
  it('delays each answer, unless a rule has its own delay', async () => {
    const sleep = vi.fn(async (_: number) => {});
    const rules = [rule('slow', { text: 'Yes.', delayMs: 9_000 }), rule('quick', { text: 'Yes.', delayMs: 0 })];
    const ask = simulate(rules, { latencyMs: 700, sleep });
    for (const user of ['slow', 'quick', 'else']) expect(await ask(user)).toMatchObject({ kind: 'text' });
    expect(sleep.mock.calls.map(([milliseconds]) => milliseconds)).toEqual([9_000, 700]);
  });

  it('is that of the clock by default, and ends when the caller aborts the call', async () => {
    const caller = new AbortController();
    const ask = simulate([rule('slow', { text: 'Yes.', delayMs: 600_000 })]);
    const slow = ask('slow', { signal: caller.signal });
    // An answer without a delay would have arrived after these calls.
    for (let nth = 0; nth < 3; nth++) expect(await ask('quick')).toMatchObject({ kind: 'text' });
    caller.abort();
    expect(await slow).toEqual({ kind: 'aborted', tokens: 0 });
  });
});
