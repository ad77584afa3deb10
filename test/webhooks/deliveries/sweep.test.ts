import { beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryMessage } from '../../../lib/deployment/messages.ts';
import { markWebhookSlow } from '../../../lib/table/deliveries/webhook-attempts.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { deleteWebhook, updateWebhook } from '../../../lib/webhooks/webhooks.ts';
import { failed, prepareTestWebhooks, startTime, type TestWebhooks } from '../test-webhooks.ts';

const minuteMs = 60_000;
const allTime = Date.parse('9999-12-31T23:59:59.999Z');
/** When the first retry of an attempt at the start is due. */
const retryDue = startTime + 5 * minuteMs;
let webhooks: TestWebhooks;

// A sweep is over the whole table, so each test has one of its own.
beforeEach(async () => {
  webhooks = (await prepareTestWebhooks())();
});

async function sweep(until = webhooks.clock()) {
  const before = webhooks.queue.sent.length;
  await sweepDeliveries(webhooks, { until });
  return webhooks.queue.sent.slice(before);
}

/** Sweeps at a time, and returns what that sends, counts as woken and as missing, and the longest wait. */
async function sweepAt(now: number) {
  webhooks.clock.now = now;
  const before = webhooks.queue.sent.length;
  const { counts, waits, woken } = await sweepDeliveries(webhooks, { until: now });
  const sent = webhooks.queue.sent.slice(before);
  return { sent, woken, missing: counts.WorkLost ?? 0, late: waits.DeliveriesLate };
}

describe('the sweep of retries', () => {
  it('sends nothing where nothing waits', async () => {
    await webhooks.message();
    expect(await sweep(allTime)).toEqual([]);
  });

  it('sends a retry whose message was lost for a minute, again each five minutes, and measures the wait since it was due', async () => {
    let first = await webhooks.message();
    // A sampled event in the same table is swept and measured too.
    while (first.eventId?.endsWith('0')) {
      webhooks = (await prepareTestWebhooks())();
      first = await webhooks.message();
    }
    const message = await webhooks.retry(first);
    for (const minutes of [1, 6, 11]) {
      const due = retryDue + minutes * minuteMs;
      expect(await sweepAt(due - 1)).toMatchObject({ sent: [], late: 0 });
      const sent = [{ to: 'firstRetry', message, delaySeconds: 0 }];
      expect(await sweepAt(due)).toMatchObject({ sent, late: minutes * 60 });
    }
  });

  it('sends each once when two sweeps run at the same time', async () => {
    await webhooks.retry();
    for (let more = 0; more < 9; more++) await webhooks.retry(await webhooks.nextMessage());
    webhooks.clock.now = retryDue + minuteMs;
    const before = webhooks.queue.sent.length;
    await Promise.all([sweep(), sweep()]);
    const sent = webhooks.queue.sent.slice(before).map(({ message }) => message.deliveryId);
    expect(sent).toHaveLength(10);
    expect(new Set(sent).size).toBe(10);
  });

  it('sends all that waits when it is given all time to come, also a moment after it has', async () => {
    await webhooks.retry();
    await webhooks.retry(await webhooks.nextMessage());
    expect(await sweep(allTime)).toHaveLength(2);
    expect(await sweep(allTime)).toHaveLength(2);
  });

  it('changes nothing of an attempt but when it is swept next', async () => {
    await webhooks.retry();
    const logged = async () => Object.entries(await webhooks.dump()).filter(([key]) => key.includes(' A#'));
    const before = await logged();
    webhooks.clock.now = retryDue + minuteMs;
    await sweep();
    const moved = before.map(([key, item]) => [key, { ...(item as object), dueAt: '2026-03-01T12:11:00.000Z' }]);
    expect(await logged()).toEqual(moved);
  });
});

describe('the sweep of sampled events', () => {
  const lost = startTime + 15 * minuteMs;
  let id: string;
  let message: DeliveryMessage;

  // Publishes events until one of them is sampled.
  beforeEach(async () => {
    ({ id } = await webhooks.register());
    do message = await webhooks.nextMessage();
    while (!message.eventId?.endsWith('0'));
  });

  const nothing = { sent: [], woken: 0, missing: 0, late: 0 };

  /** The keys of the items that a sweep looks at. */
  const readListed = async () =>
    Object.entries(await webhooks.dump()).flatMap(([key, item]) => ('dueAt' in (item as object) ? [key] : []));

  it('sends a first attempt again that was lost for 15 minutes, counts it, and measures how long it waits before', async () => {
    expect(await sweepAt(startTime + 2 * minuteMs)).toEqual({ ...nothing, late: 120 });
    expect(await sweepAt(lost - 1)).toEqual({ ...nothing, late: 900 });
    const sent = [{ to: 'deliveries', message, delaySeconds: 0 }];
    expect(await sweepAt(lost + 5 * minuteMs)).toEqual({ sent, woken: 1, missing: 1, late: 1_200 });
  });

  it('looks at no event again that its webhook skips', async () => {
    // The event has the time of the pause.
    await updateWebhook(webhooks, webhooks.organization, id, { active: false }, () => {});
    expect(await sweepAt(startTime + 2 * minuteMs)).toEqual(nothing);
    expect(await readListed()).toEqual([]);
  });

  it('parks the first attempt of an event from before a pause, although its message is lost', async () => {
    webhooks.clock.now += 1;
    await updateWebhook(webhooks, webhooks.organization, id, { active: false }, () => {});
    expect(await sweepAt(startTime + 2 * minuteMs)).toEqual(nothing);
    expect(await readListed()).toEqual([]);
    webhooks.clock.now = startTime + 24 * 60 * minuteMs;
    await updateWebhook(webhooks, webhooks.organization, id, { active: true }, () => {});
    const sent = [{ to: 'deliveries', message: { ...message, parked: true }, delaySeconds: 0 }];
    expect(await sweepAt(webhooks.clock())).toEqual({ ...nothing, sent, woken: 1 });
  });

  it('looks at no event again whose first attempts were made', async () => {
    await webhooks.attempt(message, failed);
    expect(await sweepAt(startTime + 2 * minuteMs)).toEqual(nothing);
    // Of the retry, which is listed by itself.
    expect(await readListed()).toEqual([expect.stringContaining(' A#')]);
  });

  it('counts nothing of a webhook that is slow: its attempts have their place in the queue', async () => {
    await markWebhookSlow(webhooks, webhooks.organization, id);
    expect(await sweepAt(lost)).toEqual(nothing);
  });

  it('counts nothing of a webhook that is deleted, or was registered after the event', async () => {
    await deleteWebhook(webhooks, webhooks.organization, id, () => {});
    webhooks.clock.now += 1;
    await webhooks.register();
    expect(await sweepAt(lost)).toEqual(nothing);
    expect(await readListed()).toEqual([]);
  });
});
