import { describe, expect, it } from 'vitest';
import { createAttemptLimit, readAttemptLimits } from '../../lib/webhooks/attempt-limits.ts';

/** Starts attempts of a webhook: which of them may run, and which not, as far as it is known. */
async function starting(limit: ReturnType<typeof createAttemptLimit>, count: number, webhook = 'wh_1') {
  const started: boolean[] = [];
  for (let nth = 0; nth < count; nth++) void limit.start(webhook).then((starts) => started.push(starts));
  await settled();
  return started;
}

const settled = () => new Promise(setImmediate);

describe('the attempts of a webhook in a container', () => {
  it('run five at the same time; the next one starts when one ends', async () => {
    const limit = createAttemptLimit(5);
    const started = await starting(limit, 7);
    expect(started).toEqual(Array(5).fill(true));
    limit.end('wh_1');
    await settled();
    expect(started).toEqual(Array(6).fill(true));
  });

  it('do not wait for those of another webhook', async () => {
    const limit = createAttemptLimit(5);
    await starting(limit, 6);
    expect(await starting(limit, 2, 'wh_2')).toEqual([true, true]);
  });

  it('that wait do not start when one of them is slow, nor do later ones until all that run have ended', async () => {
    const limit = createAttemptLimit(5);
    const started = await starting(limit, 7);
    limit.slow('wh_1');
    await settled();
    expect(started.slice(5)).toEqual([false, false]);
    expect(await starting(limit, 1)).toEqual([false]);
    for (let nth = 0; nth < 5; nth++) limit.end('wh_1');
    expect(await starting(limit, 1)).toEqual([true]);
  });

  it('may end or be slow after the container has forgotten the webhook', async () => {
    const limit = createAttemptLimit(5);
    limit.slow('wh_1');
    limit.end('wh_1');
    expect(await starting(limit, 1)).toEqual([true]);
  });
});

describe('the limits of a deployment', () => {
  it('are half of a batch, and half of the calls of slow deliveries, where they are not set', () => {
    expect(readAttemptLimits({})).toEqual({ prompt: 5, slow: 25 });
  });

  it.each(['PROMPT_ATTEMPTS', 'SLOW_ATTEMPTS'])('are whole numbers: %s', (name) => {
    expect(Object.values(readAttemptLimits({ [name]: '7' }))).toContain(7);
    for (const text of ['0', '-1', '1.5', 'many', '10000'])
      expect(() => readAttemptLimits({ [name]: text })).toThrow(name);
  });
});
