import { afterEach, describe, expect, it, vi } from 'vitest';
import { askModel } from '../../lib/executions/ask-model.ts';
import type { Answer } from '../../lib/model/converse.ts';
import { createTimeline } from './timeline.ts';

const throttled: Answer = { kind: 'throttled', tokens: 0 };
const faulty: Answer = { kind: 'faulty', error: 'The model could not be reached, or had a fault.', tokens: 2 };
const text: Answer = { kind: 'text', text: 'Done.', tokens: 5 };

afterEach(() => vi.restoreAllMocks());

/** Asks a model that gives these answers in order and then repeats the last one; returns the result and the times. */
async function asked(
  answers: readonly Answer[],
  { tries = 3, withinMs = Number.POSITIVE_INFINITY, faults = 0, patienceMs = Number.POSITIVE_INFINITY } = {},
) {
  const timeline = createTimeline(0);
  const late = new AbortController();
  const { signal } = late;
  if (withinMs < Number.POSITIVE_INFINITY) void timeline.pause(withinMs, signal).then(() => late.abort());
  const askedAt: number[] = [];
  const model = async (): Promise<Answer> => {
    askedAt.push(timeline.clock());
    return answers[askedAt.length - 1] ?? (answers.at(-1) as Answer);
  };
  const question = { model: 'm', system: '', user: 'Hi.', maxTokens: 10, signal };
  const answered = await timeline.finish(askModel(timeline, model, question, tries, { faults, patienceMs }));
  return { answered, askedAt, endedAt: timeline.clock(), waiting: timeline.waiting() };
}

describe('a call of a model', () => {
  it('that succeeds is made once, without a pause', async () => {
    expect(await asked([text])).toEqual({ answered: { ...text, throttles: 0 }, askedAt: [0], endedAt: 0, waiting: 0 });
  });

  it('that fails permanently is made once', async () => {
    const failed: Answer = { kind: 'failed', error: 'The model refused to do this.', tokens: 7 };
    expect(await asked([failed])).toMatchObject({ answered: failed, askedAt: [0] });
  });

  it('that has a fault is made three times, and returns the last fault', async () => {
    const last: Answer = { ...faulty, error: 'The model took too long to answer.' };
    const { answered, askedAt } = await asked([faulty, faulty, last]);
    expect(answered).toEqual({ kind: 'failed', error: last.error, tokens: 6, throttles: 0 });
    expect(askedAt).toHaveLength(3);
  });

  it('that has a fault is not repeated if only one try is allowed', async () => {
    const { answered, askedAt } = await asked([faulty], { tries: 1 });
    expect(answered).toEqual({ kind: 'failed', error: faulty.error, tokens: 2, throttles: 0 });
    expect(askedAt).toEqual([0]);
  });

  it('after two earlier faults is made once more', async () => {
    const { answered, askedAt } = await asked([faulty], { faults: 2 });
    expect(answered).toMatchObject({ kind: 'failed', tokens: 2 });
    expect(askedAt).toEqual([0]);
  });

  it('that is throttled between its faults still has three tries', async () => {
    const { answered, askedAt } = await asked([throttled, faulty, throttled, throttled, faulty, throttled, text]);
    expect(answered).toEqual({ ...text, tokens: 9, throttles: 4 });
    expect(askedAt).toHaveLength(7);
  });

  it('that is throttled a hundred times does not fail, not even with one try', async () => {
    for (const tries of [1, 3]) {
      const { answered } = await asked([...Array(100).fill(throttled), text], { tries });
      expect(answered).toEqual({ ...text, throttles: 100 });
    }
  });
});

describe('a throttled model', () => {
  const chance = (value: number) => vi.spyOn(Math, 'random').mockReturnValue(value);

  it('is called again after at most 1, 2, 4, 8, 16 and then 30 seconds', async () => {
    chance(1);
    const { askedAt } = await asked([...Array(8).fill(throttled), text]);
    const pauses = askedAt.slice(1).map((at, nth) => at - (askedAt[nth] as number));
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  });

  it('is called again after a random part of that time, drawn for each pause', async () => {
    const random = chance(0).mockReturnValueOnce(0.25).mockReturnValueOnce(0.5).mockReturnValueOnce(0.75);
    const { askedAt } = await asked([throttled, throttled, throttled, throttled, text]);
    expect(askedAt).toEqual([0, 250, 1_250, 4_250, 4_250]);
    expect(random).toHaveBeenCalledTimes(4);
  });

  it('is not called again if the next pause would exceed the patience of the caller', async () => {
    chance(1);
    const { answered, askedAt, endedAt } = await asked([throttled], { patienceMs: 3_000 });
    expect(answered).toEqual({ kind: 'throttled', faults: 0, tokens: 0, throttles: 3 });
    expect([askedAt, endedAt]).toEqual([[0, 1_000, 3_000], 3_000]);
  });

  it('uses no patience for its faults, and returns their number', async () => {
    chance(1);
    const { answered, askedAt } = await asked([faulty, throttled, throttled], { patienceMs: 2_000 });
    expect(answered).toEqual({ kind: 'throttled', faults: 1, tokens: 2, throttles: 2 });
    expect(askedAt).toEqual([0, 1_000, 3_000]);
  });

  it('is called until the signal aborts; then the result is aborted', async () => {
    chance(0.5);
    const { answered, askedAt, endedAt, waiting } = await asked([throttled], { withinMs: 600_000 });
    expect(answered).toEqual({ kind: 'aborted', tokens: 0, throttles: askedAt.length });
    // At once, after the half of 31 s in five pauses, and from then on every 15 s.
    expect(askedAt).toHaveLength(1 + 5 + Math.floor((600_000 - 15_500) / 15_000));
    expect(endedAt).toBe(600_000);
    expect(waiting).toBe(0);
  });
});

describe('a signal', () => {
  it('that has already aborted prevents the call', async () => {
    const model = vi.fn(async () => text);
    const question = { model: 'm', system: '', user: 'Hi.', maxTokens: 10, signal: AbortSignal.abort() };
    expect(await askModel(createTimeline(0), model, question, 3)).toEqual({ kind: 'aborted', tokens: 0, throttles: 0 });
    expect(model).not.toHaveBeenCalled();
  });

  it('that aborts a call keeps the tokens of the calls before', async () => {
    const { answered } = await asked([faulty, { kind: 'aborted', tokens: 1 }]);
    expect(answered).toEqual({ kind: 'aborted', tokens: 3, throttles: 0 });
  });

  it('that aborts a pause ends it at once', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const { answered, askedAt, endedAt } = await asked([faulty], { tries: 9, withinMs: 5_000 });
    expect(answered).toEqual({ kind: 'aborted', tokens: 6, throttles: 0 });
    expect(askedAt).toEqual([0, 1_000, 3_000]);
    expect(endedAt).toBe(5_000);
  });
});
