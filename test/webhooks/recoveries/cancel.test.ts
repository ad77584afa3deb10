import { beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { readRecovery } from '../../../lib/table/recoveries/recoveries.ts';
import { cancelRecovery } from '../../../lib/webhooks/recoveries/recovery.ts';
import { continueRecovery } from '../../../lib/webhooks/recoveries/walk.ts';
import { failed, prepareTestWebhooks, type TestWebhooks } from '../test-webhooks.ts';
import { exhaustAll, progressOf, recover, runToEnd, sweep } from './test-recoveries.ts';

const minuteMs = 60_000;
let webhooks: TestWebhooks;
let id: string;

beforeEach(async () => {
  webhooks = (await prepareTestWebhooks())();
  id = (await webhooks.register()).id;
});

const cancel = (recoveryId: string | undefined) =>
  cancelRecovery(webhooks, webhooks.organization, id, recoveryId as string, undefined);

/** Begins a recovery of three exhausted deliveries, and returns its id and its messages. */
async function begun() {
  await exhaustAll(webhooks, 3);
  webhooks.clock.now += minuteMs;
  const { recoveryId } = await recover(webhooks, id);
  const sent = (await sweep(webhooks)).map(({ message }) => message);
  return { recoveryId, sent };
}

/** Sweeps each minute until nothing of the recovery is left to take back. */
async function takeBack(): Promise<DeliveryMessage[]> {
  const sent: DeliveryMessage[] = [];
  for (let minutes = 0; minutes < 4; minutes++) {
    webhooks.clock.now += minuteMs;
    sent.push(...(await sweep(webhooks)).map(({ message }) => message));
  }
  return sent;
}

describe('a cancelled recovery', () => {
  it('makes no further attempt, and what it has made stays', async () => {
    const { recoveryId, sent } = await begun();
    webhooks.clock.now += 1_000;
    expect(await webhooks.attempt(sent[0] as DeliveryMessage)).toMatchObject({ posts: 1 });
    expect(await cancel(recoveryId)).toMatchObject({
      ...{ id: recoveryId, state: 'cancelled', status: 'cancelled', matched: 3, delivered: 1 },
      cancelledAt: expect.any(String),
    });
    webhooks.clock.now += 1_000;
    for (const message of sent.slice(1)) expect(await webhooks.attempt(message)).toEqual({ posts: 0, sent: [] });
    expect(await takeBack()).toEqual([]);
    expect(await progressOf(webhooks, id, recoveryId)).toMatchObject({ state: 'cancelled', delivered: 1, failed: 0 });
  });

  it('leaves the events that it has not sent missed, for another recovery about a minute later', async () => {
    const { recoveryId, sent } = await begun();
    webhooks.clock.now += 1_000;
    await webhooks.attempt(sent[0] as DeliveryMessage);
    await cancel(recoveryId);
    await expect(recover(webhooks, id)).rejects.toMatchObject({ code: 'recovery_in_progress' });
    webhooks.clock.now += minuteMs;
    await sweep(webhooks);
    const next = await recover(webhooks, id);
    expect(next).toMatchObject({ matched: 2, leftOut: { delivered: 1 } });
    const made = await runToEnd(webhooks, id, next.recoveryId);
    expect(made.map(({ attempt }) => attempt)).toEqual([5, 5]);
    webhooks.clock.now += minuteMs;
    for (const message of sent) expect(await webhooks.attempt(message)).toEqual({ posts: 0, sent: [] });
  });

  it.each([
    ['before', 0],
    ['after', 5 * minuteMs],
  ])('gives a delivery its retry back that has arrived %s that', async (_, waitedMs) => {
    const retry = await webhooks.retry(await webhooks.nextMessage());
    webhooks.clock.now += 30_001;
    const { recoveryId } = await recover(webhooks, id, { include: ['retrying'] });
    const [recovered] = await sweep(webhooks);
    await cancel(recoveryId);
    webhooks.clock.now += waitedMs;
    expect(await webhooks.attempt(retry)).toEqual({ posts: 0, sent: [] });
    const again = (await takeBack()).filter(({ attempt }) => attempt === 2);
    webhooks.clock.now = Math.max(webhooks.clock.now, Date.parse(retry.dueAt));
    expect(await webhooks.attempt(recovered?.message as DeliveryMessage)).toEqual({ posts: 0, sent: [] });
    expect(await webhooks.attempt(again[0] as DeliveryMessage, failed)).toMatchObject({
      posts: 1,
      sent: [{ message: { attempt: 3 } }],
    });
  });

  it('keeps an attempt that has begun before', async () => {
    const { recoveryId, sent } = await begun();
    const { posts, letGo } = await webhooks.beginAttempt(sent[0] as DeliveryMessage);
    await cancel(recoveryId);
    await letGo();
    await takeBack();
    expect(posts).toHaveLength(1);
    expect(await progressOf(webhooks, id, recoveryId)).toMatchObject({ state: 'cancelled', delivered: 1 });
    expect(await recover(webhooks, id, { dryRun: true })).toMatchObject({ matched: 2, leftOut: { delivered: 1 } });
  });

  it('takes back what a worker stores that continued it meanwhile', async () => {
    await exhaustAll(webhooks, 3);
    webhooks.clock.now += minuteMs;
    const { recoveryId } = await recover(webhooks, id);
    const stale = await readRecovery(webhooks, webhooks.organization, id, recoveryId as string);
    await cancel(recoveryId);
    webhooks.clock.now += minuteMs;
    await sweep(webhooks);
    await continueRecovery(webhooks, stale as never, { until: webhooks.clock(), hasTime: () => true });
    webhooks.clock.now += 1_000;
    for (const { message } of webhooks.queue.sent.slice(-3))
      expect(await webhooks.attempt(message)).toEqual({ posts: 0, sent: [] });
    await takeBack();
    expect(await recover(webhooks, id, { dryRun: true })).toMatchObject({ matched: 3, leftOut: { inProgress: 0 } });
  });

  it('can be cancelled again, which changes nothing', async () => {
    const { recoveryId } = await begun();
    const first = await cancel(recoveryId);
    const before = await webhooks.dump();
    webhooks.clock.now += 1_000;
    expect(await cancel(recoveryId)).toEqual(first);
    expect(await webhooks.dump()).toEqual(before);
  });
});

it('a completed recovery cannot be cancelled', async () => {
  await exhaustAll(webhooks, 1);
  webhooks.clock.now += minuteMs;
  const { recoveryId } = await recover(webhooks, id);
  await runToEnd(webhooks, id, recoveryId);
  const before = await webhooks.dump();
  await expect(cancel(recoveryId)).rejects.toMatchObject({ code: 'recovery_completed' });
  expect(await webhooks.dump()).toEqual(before);
});
