import { beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryMessage } from '../../../lib/deployment/messages.ts';
import { markWebhookSlow } from '../../../lib/table/deliveries/webhook-attempts.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { deleteWebhook } from '../../../lib/webhooks/webhooks.ts';
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

/** The messages that a sweep puts in the queues. */
async function swept(until = webhooks.clock()) {
  const before = webhooks.queue.sent.length;
  await sweepDeliveries(webhooks, { until });
  return webhooks.queue.sent.slice(before);
}

/** The message of the retry of an event whose first attempt has failed. */
async function retry(message?: DeliveryMessage): Promise<DeliveryMessage> {
  await webhooks.attempt(message ?? (await webhooks.message()), failed);
  return webhooks.queue.sent.at(-1)?.message as DeliveryMessage;
}

describe('the sweep of retries', () => {
  it('sends nothing where nothing waits', async () => {
    await webhooks.message();
    expect(await swept()).toEqual([]);
    expect(await swept(allTime)).toEqual([]);
  });

  it('sends a retry whose message was lost for a minute, and none before', async () => {
    const message = await retry();
    webhooks.clock.now = retryDue + minuteMs - 1;
    expect(await swept()).toEqual([]);
    webhooks.clock.now = retryDue + minuteMs;
    expect(await swept()).toEqual([{ to: 'firstRetry', message, delaySeconds: 0 }]);
  });

  it('sends once when it comes twice in a row, and again five minutes later', async () => {
    await retry();
    webhooks.clock.now = retryDue + minuteMs;
    expect(await swept()).toHaveLength(1);
    expect(await swept()).toEqual([]);
    webhooks.clock.now = retryDue + 6 * minuteMs - 1;
    expect(await swept()).toEqual([]);
    webhooks.clock.now = retryDue + 6 * minuteMs;
    expect(await swept()).toHaveLength(1);
  });

  it('sends each once when two sweeps run at the same time', async () => {
    await retry();
    for (let more = 0; more < 9; more++) await retry((await webhooks.publish())[0]);
    webhooks.clock.now = retryDue + minuteMs;
    const before = webhooks.queue.sent.length;
    await Promise.all([
      sweepDeliveries(webhooks, { until: webhooks.clock() }),
      sweepDeliveries(webhooks, { until: webhooks.clock() }),
    ]);
    const sent = webhooks.queue.sent.slice(before);
    expect(sent).toHaveLength(10);
    expect(new Set(sent.map(({ message }) => message.deliveryId)).size).toBe(10);
  });

  it('sends all that waits when it is given all time to come, also a moment after it has', async () => {
    await retry();
    await retry((await webhooks.publish())[0]);
    expect(await swept(allTime)).toHaveLength(2);
    expect(await swept(allTime)).toHaveLength(2);
  });

  it('changes nothing of an attempt but when it is swept next', async () => {
    await retry();
    const logged = async () => Object.entries(await webhooks.dump()).filter(([key]) => key.includes(' A#'));
    const before = await logged();
    webhooks.clock.now = retryDue + minuteMs;
    await swept();
    const moved = before.map(([key, item]) => [key, { ...(item as object), dueAt: '2026-03-01T12:11:00.000Z' }]);
    expect(await logged()).toEqual(moved);
  });
});

describe('the sweep of sampled events', () => {
  const lost = startTime + 15 * minuteMs;

  /** Publishes events until one of them is sampled, and returns its message. */
  async function sampled(): Promise<DeliveryMessage> {
    for (;;) {
      const [message] = await webhooks.publish();
      if (/0$/.test(message?.eventId as string)) return message as DeliveryMessage;
    }
  }

  /** What a sweep sends, and what it counts as missing. */
  async function missing() {
    const before = webhooks.queue.sent.length;
    const { counts, waits } = await sweepDeliveries(webhooks, { until: webhooks.clock() });
    return { sent: webhooks.queue.sent.slice(before), missing: counts.WorkLost ?? 0, late: waits.DeliveriesLate };
  }

  it('sends a first attempt again that was lost for 15 minutes, counts it, and measures how long it waits before', async () => {
    await webhooks.register();
    const message = await sampled();
    webhooks.clock.now = startTime + 2 * minuteMs;
    expect(await missing()).toEqual({ sent: [], missing: 0, late: 120 });
    webhooks.clock.now = lost - 1;
    expect(await missing()).toEqual({ sent: [], missing: 0, late: 900 });
    webhooks.clock.now = lost + 5 * minuteMs;
    expect(await missing()).toEqual({
      sent: [{ to: 'deliveries', message, delaySeconds: 0 }],
      missing: 1,
      late: 1_200,
    });
  });

  it('looks at no event again whose first attempts were made', async () => {
    await webhooks.register();
    const message = await sampled();
    await webhooks.attempt(message, failed);
    webhooks.clock.now = startTime + 2 * minuteMs;
    expect(await missing()).toEqual({ sent: [], missing: 0, late: 0 });
    // Of the retry, which is listed by itself.
    const listed = Object.entries(await webhooks.dump()).filter(([, item]) => 'dueAt' in (item as object));
    expect(listed.map(([key]) => key)).toEqual([expect.stringContaining(' A#')]);
  });

  it('counts nothing of a webhook that is slow: its attempts have their place in the queue', async () => {
    const { id } = await webhooks.register();
    await sampled();
    await markWebhookSlow(webhooks, webhooks.organization, id);
    webhooks.clock.now = lost;
    expect(await missing()).toEqual({ sent: [], missing: 0, late: 0 });
  });

  it('counts nothing of a webhook that is deleted, or was registered after the event', async () => {
    const { id } = await webhooks.register();
    await sampled();
    await deleteWebhook(webhooks, webhooks.organization, id);
    webhooks.clock.now += 1;
    await webhooks.register();
    webhooks.clock.now = lost;
    expect(await missing()).toEqual({ sent: [], missing: 0, late: 0 });
    expect(Object.values(await webhooks.dump()).filter((item) => 'dueAt' in (item as object))).toEqual([]);
  });
});
