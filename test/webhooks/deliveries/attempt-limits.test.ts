import { describe, expect, it } from 'vitest';
import {
  type AttemptLimitContext,
  endAttempt,
  markAttemptSlow,
  readAttemptLimits,
  startAttempt,
} from '../../../lib/webhooks/deliveries/attempt-limits.ts';

const newContext = (): AttemptLimitContext => ({ attemptLimits: { normal: 5 }, webhookAttempts: new Map() });

/** Starts attempts of a webhook, and returns which of them may run and which may not, as soon as that is decided. */
async function starting(context: AttemptLimitContext, count: number, webhook = 'wh_1') {
  const started: boolean[] = [];
  for (let nth = 0; nth < count; nth++) void startAttempt(context, webhook).then((starts) => started.push(starts));
  await settled();
  return started;
}

const settled = () => new Promise(setImmediate);

describe('the attempts of a webhook in a container', () => {
  it('run five at the same time; the next one starts when one ends', async () => {
    const context = newContext();
    const started = await starting(context, 7);
    expect(started).toEqual(Array(5).fill(true));
    endAttempt(context, 'wh_1');
    await settled();
    expect(started).toEqual(Array(6).fill(true));
  });

  it('do not wait for those of another webhook', async () => {
    const context = newContext();
    await starting(context, 6);
    expect(await starting(context, 2, 'wh_2')).toEqual([true, true]);
  });

  it('do not start while one of them is slow, until all that run have ended', async () => {
    const context = newContext();
    const started = await starting(context, 7);
    markAttemptSlow(context, 'wh_1');
    await settled();
    expect(started.slice(5)).toEqual([false, false]);
    expect(await starting(context, 1)).toEqual([false]);
    for (let nth = 0; nth < 5; nth++) endAttempt(context, 'wh_1');
    expect(await starting(context, 1)).toEqual([true]);
  });

  it('may end or be slow after the process has removed the webhook', async () => {
    const context = newContext();
    markAttemptSlow(context, 'wh_1');
    endAttempt(context, 'wh_1');
    expect(await starting(context, 1)).toEqual([true]);
  });
});

describe('the limits of a deployment', () => {
  it('are half of a batch, and half of the calls of slow deliveries, where they are not set', () => {
    expect(readAttemptLimits({})).toEqual({ normal: 5, slow: 25 });
  });

  it.each(['PROMPT_ATTEMPTS', 'SLOW_ATTEMPTS'])('are whole numbers: %s', (name) => {
    expect(Object.values(readAttemptLimits({ [name]: '7' }))).toContain(7);
    for (const text of ['0', '-1', '1.5', 'many', '10000'])
      expect(() => readAttemptLimits({ [name]: text })).toThrow(name);
  });
});
