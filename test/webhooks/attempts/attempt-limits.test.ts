import { beforeEach, describe, expect, it } from 'vitest';
import type { Context } from '../../../lib/context/context.ts';
import { endAttempt, markAttemptSlow, startAttempt } from '../../../lib/webhooks/attempts/attempt-limits.ts';

let context: Pick<Context, 'attemptLimits' | 'webhookAttempts'>;
beforeEach(() => {
  context = { attemptLimits: { normal: 5, slow: 1 }, webhookAttempts: new Map() };
});

const settled = () => new Promise(setImmediate);

/** Starts attempts of a webhook, and returns whether each may run, as soon as that is decided. */
async function start(count: number, webhook = 'wh_1') {
  const started: boolean[] = [];
  for (let nth = 0; nth < count; nth++) void startAttempt(context, webhook).then((starts) => started.push(starts));
  await settled();
  return started;
}

describe('the attempts of a webhook in a container', () => {
  it('run five at the same time, and none while one of them is slow, until all that run have ended', async () => {
    const started = await start(7);
    expect(started).toEqual(Array(5).fill(true));
    expect(await start(2, 'wh_2')).toEqual([true, true]);
    markAttemptSlow(context, 'wh_1');
    await settled();
    expect(started.slice(5)).toEqual([false, false]);
    expect(await start(1)).toEqual([false]);
    for (let nth = 0; nth < 5; nth++) endAttempt(context, 'wh_1');
    expect(await start(1)).toEqual([true]);
  });

  it('may end or be slow after the process has removed the webhook', async () => {
    markAttemptSlow(context, 'wh_1');
    endAttempt(context, 'wh_1');
    expect(await start(1)).toEqual([true]);
  });
});
