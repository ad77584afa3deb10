import { describe, expect, it } from 'vitest';
import { converseClient } from '../../../../infra/local/model/converse-client.ts';
import type { Rule } from '../../../../infra/local/model/model-script.ts';
import { openSimulator, type Simulation } from '../../../../infra/local/model/simulator.ts';
import { namedModels } from '../../../../lib/contract/models.ts';
import { createConverseModel, type Question } from '../../../../lib/model/converse.ts';

/** A simulator, asked through the model port. */
async function simulate(simulation: Partial<Simulation> = {}) {
  const model = openSimulator({ defaultModel: 'the-default', latencyMs: 0, rules: [], ...simulation });
  const ask = createConverseModel(converseClient(model));
  return (user: string, more: Partial<Question> = {}) =>
    ask({ model: 'the-default', system: '', user, maxTokens: 100, signal: new AbortController().signal, ...more });
}

const rule = (text: string, more: Partial<Rule> = {}): Rule => ({ match: (user) => user.includes(text), ...more });
const unknown = { kind: 'failed', error: 'There is no such model, or it cannot be used from here.', tokens: 0 };
const textOf = (answer: object) => ('text' in answer ? answer.text : answer);

describe('the simulator', () => {
  it('says that it is none of the models, and quotes what it was asked', async () => {
    const ask = await simulate();
    expect(textOf(await ask('Write  a\nhaiku.'))).toBe(
      'This is Crewboard\'s built-in simulator and not a model; nothing has been done. It was asked: "Write a haiku."',
    );
  });

  it('answers for the default models of this version and of earlier ones, which agents may still have', async () => {
    const ask = await simulate();
    for (const model of namedModels) expect(await ask('Hello?', { model })).toMatchObject({ kind: 'text' });
    expect(await ask('Hello?', { model: 'another' })).toEqual(unknown);
  });

  it('quotes only the start of a long question, and no half of a character', async () => {
    const ask = await simulate();
    const text = textOf(await ask(`a${'👋'.repeat(300)}`));
    expect(text).toMatch(/"a(👋){199}…"$/u);
  });

  it('says the same to the same question', async () => {
    const ask = await simulate();
    expect(await ask('Hello?')).toEqual(await ask('Hello?'));
  });

  it('counts about four characters a token, of system prompt, question and answer', async () => {
    const ask = await simulate({ rules: [rule('', { text: 'x'.repeat(41) })] });
    expect(await ask('y'.repeat(40), { system: 'z'.repeat(80) })).toMatchObject({ tokens: 20 + 10 + 11 });
  });

  it('passes what it is asked to judge', async () => {
    const ask = await simulate();
    const answer = await ask('Is it good? End with this line:\nVERDICT: PASS or VERDICT: FAIL\nHere it is.');
    expect(answer).toMatchObject({ kind: 'text', text: 'VERDICT: PASS' });
  });

  it('tells two system prompts apart by a rule that looks at them', async () => {
    const system = (text: string) => text.includes('short');
    const ask = await simulate({ rules: [rule('haiku', { system, text: 'Short.' }), rule('', { text: 'Any.' })] });
    expect(textOf(await ask('A haiku.', { system: 'Be short.' }))).toBe('Short.');
    expect(textOf(await ask('A haiku.', { system: 'Be long.' }))).toBe('Any.');
    expect(textOf(await ask('An ode.', { system: 'Be short.' }))).toBe('Any.');
  });

  it('refuses a model that is neither the default one nor in its script, as Bedrock does', async () => {
    const ask = await simulate({ rules: [rule('', { model: 'scripted', text: 'Yes.' })] });
    expect(await ask('Hello?', { model: 'another' })).toEqual(unknown);
    expect(await ask('Hello?', { model: 'scripted' })).toMatchObject({ text: 'Yes.' });
    expect(await ask('Hello?')).toMatchObject({ text: expect.stringContaining('simulator') });
  });
});

describe('a rule', () => {
  it('is the first that is for the question', async () => {
    const ask = await simulate({ rules: [rule('tea', { text: 'one' }), rule('green tea', { text: 'two' })] });
    expect(await ask('green tea')).toMatchObject({ text: 'one' });
    expect(await ask('coffee')).toMatchObject({ text: expect.stringContaining('simulator') });
  });

  it('does not look at the system prompt', async () => {
    const ask = await simulate({ rules: [rule('tea', { text: 'one' })] });
    expect(textOf(await ask('coffee', { system: 'tea' }))).not.toBe('one');
  });

  it('for one model is not for another', async () => {
    const ask = await simulate({ rules: [rule('', { model: 'other', text: 'one' }), rule('', { text: 'two' })] });
    expect(await ask('Hello?')).toMatchObject({ text: 'two' });
    expect(await ask('Hello?', { model: 'other' })).toMatchObject({ text: 'one' });
  });

  it('holds as often as it says, then gives way to the next', async () => {
    const ask = await simulate({ rules: [rule('', { times: 2, throttle: true }), rule('', { text: 'done' })] });
    const answers = [await ask('a'), await ask('b'), await ask('c'), await ask('d')];
    expect(answers.map(({ kind }) => kind)).toEqual(['throttled', 'throttled', 'text', 'text']);
  });

  it('can fail the verdict that would pass', async () => {
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
    ['a fault', { error: 'ModelTimeoutException' }, { kind: 'faulty', error: 'The model took too long to answer.' }],
    ['a broken answer', { malformed: true }, { kind: 'faulty', error: 'The answer of the model could not be read.' }],
    ['a refusal', { refusal: true }, { kind: 'failed', error: 'The model refused to do this.' }],
    [
      'a reason to stop',
      { stopReason: 'max_tokens' },
      { kind: 'failed', error: 'The answer of the model was longer than it may be.' },
    ],
  ])('brings about %s', async (_, outcome, answer) => {
    const ask = await simulate({ rules: [rule('', outcome)] });
    expect(await ask('Hello?')).toMatchObject(answer);
  });

  it.each([0, 1, 12, 100_000])('costs the %i tokens that it says', async (tokens) => {
    const ask = await simulate({ rules: [rule('', { text: 'Yes.', tokens })] });
    expect(await ask('Hello? '.repeat(10))).toMatchObject({ kind: 'text', tokens });
  });
});

describe('the latency', () => {
  const noting = () => {
    const waits: number[] = [];
    const sleep = async (milliseconds: number) => waits.push(milliseconds);
    return { waits, sleep };
  };

  it('delays each answer, or as a rule says', async () => {
    const { waits, sleep } = noting();
    const rules = [rule('slow', { text: 'Yes.', delayMs: 9_000 }), rule('quick', { text: 'Yes.', delayMs: 0 })];
    const ask = await simulate({ latencyMs: 700, rules, sleep });
    for (const user of ['slow', 'quick', 'else']) expect(await ask(user)).toMatchObject({ kind: 'text' });
    expect(waits).toEqual([9_000, 700]);
  });

  it('ends when its caller ends the call', async () => {
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

  it('is kept by the clock where nothing else is passed in', async () => {
    const caller = new AbortController();
    const ask = await simulate({ rules: [rule('slow', { text: 'Yes.', delayMs: 600_000 })] });
    const slow = ask('slow', { signal: caller.signal });
    // Long enough for an answer that is not delayed to have come.
    for (let nth = 0; nth < 3; nth++) expect(await ask('quick')).toMatchObject({ kind: 'text' });
    caller.abort();
    expect(await slow).toEqual({ kind: 'aborted', tokens: 0 });
  });
});
