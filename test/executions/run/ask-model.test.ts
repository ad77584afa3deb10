import { afterEach, describe, expect, it, vi } from 'vitest';
import { askModel } from '../../../lib/executions/run/ask-model.ts';
import type { ModelAnswer } from '../../../lib/model/converse.ts';
import { createTimeline } from '../timeline.ts';

const throttled: ModelAnswer = { kind: 'throttled', tokens: 0 };
const faulty: ModelAnswer = { kind: 'faulty', error: 'The model could not be reached, or had a fault.', tokens: 2 };
const text: ModelAnswer = { kind: 'text', text: 'Done.', tokens: 5 };

afterEach(() => vi.restoreAllMocks());

const setRandom = (value: number) => vi.spyOn(Math, 'random').mockReturnValue(value);

/** Asks a model that gives these answers in order and then repeats the last one; returns the result and the times. */
async function asked(
  answers: readonly ModelAnswer[],
  { tries = 3, withinMs = Number.POSITIVE_INFINITY, faults = 0, patienceMs = Number.POSITIVE_INFINITY } = {},
) {
  const timeline = createTimeline(0);
  const late = new AbortController();
  const { signal } = late;
  if (withinMs === 0) late.abort();
  else if (withinMs < Number.POSITIVE_INFINITY) void timeline.pause(withinMs, signal).then(() => late.abort());
  const askedAt: number[] = [];
  const model = async (): Promise<ModelAnswer> => {
    askedAt.push(timeline.clock());
    return answers[askedAt.length - 1] ?? (answers.at(-1) as ModelAnswer);
  };
  const question = { model: 'm', system: '', user: 'Hi.', maxTokens: 10, signal };
  const answered = await timeline.finish(askModel(timeline, model, question, tries, { faults, patienceMs }));
  return { answered, askedAt, endedAt: timeline.clock(), waiting: timeline.waiting() };
}

const failed: ModelAnswer = { kind: 'failed', error: 'The model refused to do this.', tokens: 7 };
const tooSlow: ModelAnswer = { ...faulty, error: 'The model took too long to answer.' };
const mixed = [throttled, faulty, throttled, throttled, faulty, throttled, text];
const tools: ModelAnswer = {
  ...{ kind: 'tools', content: '[]', text: '', calls: [{ id: 't', name: 'get_task', input: {} }], tokens: 5 },
  cached: { read: 3, written: 1 },
};
const malformed: ModelAnswer = { kind: 'malformed', error: 'The model requested a tool in a broken form.', tokens: 5 };
const patient = [...Array<ModelAnswer>(100).fill(throttled), text];
const lastFault = { ...failed, error: tooSlow.error, tokens: 6 };

it.each<[string, ModelAnswer[], Parameters<typeof asked>[1], object, number]>([
  ['succeeds is made once', [text], {}, text, 1],
  ['fails permanently is made once', [failed], {}, failed, 1],
  ['requests a tool is made once, with its calls and its cached tokens', [tools], {}, tools, 1],
  ['requests a tool after a fault counts the tokens of both', [faulty, tools], {}, { ...tools, tokens: 7 }, 2],
  [
    'requests a tool in a broken form is made once, because the caller answers the model',
    [malformed],
    {},
    malformed,
    1,
  ],
  ['has a fault is made three times, with the last fault', [faulty, faulty, tooSlow], {}, lastFault, 3],
  ['has a fault is made once if one try is allowed', [faulty], { tries: 1 }, { ...faulty, kind: 'failed' }, 1],
  ['has a fault after two earlier ones is made once', [faulty], { faults: 2 }, { ...faulty, kind: 'failed' }, 1],
  ['is throttled between its faults still has three tries', mixed, {}, { ...text, tokens: 9, throttles: 4 }, 7],
  ['is throttled a hundred times does not fail', patient, { tries: 1 }, { ...text, throttles: 100 }, 101],
])('a call of a model that %s', async (_, answers, options, answer, calls) => {
  const { answered, askedAt, waiting } = await asked(answers, options);
  expect(answered).toEqual({ throttles: 0, ...answer });
  expect([askedAt.length, waiting]).toEqual([calls, 0]);
});

describe('a throttled model', () => {
  it('is called again after at most 1, 2, 4, 8, 16 and then 30 seconds', async () => {
    setRandom(1);
    const { askedAt } = await asked([...Array(8).fill(throttled), text]);
    const pauses = askedAt.slice(1).map((at, nth) => at - (askedAt[nth] as number));
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('is called again after a random part of that time, drawn for each pause', async () => {
    const random = setRandom(0).mockReturnValueOnce(0.25).mockReturnValueOnce(0.5).mockReturnValueOnce(0.75);
    const { askedAt } = await asked([throttled, throttled, throttled, throttled, text]);
    expect(askedAt).toEqual([0, 250, 1_250, 4_250, 4_250]);
    expect(random).toHaveBeenCalledTimes(4);
  });

  it('is not called again if the next pause would exceed the patience of the caller, which faults do not use', async () => {
    setRandom(1);
    const { answered, askedAt, endedAt } = await asked([faulty, throttled], { patienceMs: 2_000 });
    expect(answered).toEqual({ kind: 'throttled', faults: 1, tokens: 2, throttles: 2 });
    expect([askedAt, endedAt]).toEqual([[0, 1_000, 3_000], 3_000]);
  });
});

describe('a signal', () => {
  it('that has already aborted prevents the call; one that aborts a call counts its estimated input, and the calls before', async () => {
    const { answered, askedAt } = await asked([text], { withinMs: 0 });
    expect([answered, askedAt]).toEqual([{ kind: 'aborted', tokens: 0, throttles: 0 }, []]);
    const during = await asked([faulty, { kind: 'aborted', tokens: 0 }]);
    // 'Hi.' is estimated as one token.
    expect(during.answered).toEqual({ kind: 'aborted', tokens: 3, throttles: 0, estimated: true });
  });

  it.each([
    [faulty, { tokens: 6, throttles: 0 }],
    [throttled, { tokens: 0, throttles: 3 }],
  ])('that aborts a pause after %j ends it at once', async (answer, expected) => {
    setRandom(1);
    const { answered, askedAt, endedAt, waiting } = await asked([answer], { tries: 9, withinMs: 5_000 });
    expect(answered).toEqual({ kind: 'aborted', ...expected });
    expect([askedAt, endedAt, waiting]).toEqual([[0, 1_000, 3_000], 5_000, 0]);
  });
});
