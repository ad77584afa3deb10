import { beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryMessage } from '../../../lib/deployment/messages.ts';
import { unlistAttempt } from '../../../lib/table/deliveries/attempt-log.ts';
import { compareDeliveries } from '../../../lib/webhooks/deliveries/compare-deliveries.ts';
import { deleteWebhook } from '../../../lib/webhooks/webhooks.ts';
import { failed, notingSender, prepareTestWebhooks, startTime, type TestWebhooks } from '../test-webhooks.ts';

const minuteMs = 60_000;
const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;

beforeEach(() => {
  webhooks = createTestWebhooks();
});

const quick = notingSender().send;
const failing = notingSender(failed).send;

/** What the events of the first hour say now. */
const compare = () =>
  compareDeliveries(webhooks, webhooks.organization, {
    from: startTime - 30 * minuteMs,
    to: startTime + 30 * minuteMs,
    now: webhooks.clock(),
  });

/** Lets time pass until the message of anything that is due must have been lost. */
function waitLong(): void {
  webhooks.clock.now += 15 * minuteMs;
}

describe('a comparison of events and attempts', () => {
  it('counts the events, also those without subscribers, and their deliveries', async () => {
    await webhooks.publish();
    await webhooks.register();
    await webhooks.register();
    for (let more = 0; more < 3; more++) {
      webhooks.clock.now += 1;
      for (const message of await webhooks.publish()) await webhooks.deliver(message, quick);
    }
    // The webhooks are of the first event's millisecond, which therefore is due to them as well.
    const { lost, waiting, ...counts } = await compare();
    expect(counts).toEqual({ events: 4, deliveries: 8 });
    expect([lost, waiting.length]).toEqual([[], 2]);
  });

  it('counts an attempt that was not made as waiting, and after 15 minutes as lost', async () => {
    const message = await webhooks.message();
    expect(await compare()).toMatchObject({ waiting: [message], lost: [] });
    webhooks.clock.now = startTime + 15 * minuteMs - 1;
    expect(await compare()).toMatchObject({ waiting: [message], lost: [] });
    webhooks.clock.now += 1;
    expect(await compare()).toMatchObject({ waiting: [], lost: [message] });
  });

  it('finds the lost attempts among many others', async () => {
    await webhooks.register();
    const messages: DeliveryMessage[] = [];
    for (let nth = 0; nth < 120; nth++) {
      const [message] = await webhooks.publish();
      if (nth % 40 === 0) messages.push(message as DeliveryMessage);
      else await webhooks.deliver(message as DeliveryMessage, quick);
    }
    waitLong();
    const { lost, ...others } = await compare();
    expect(others).toEqual({ events: 120, deliveries: 120, waiting: [] });
    expect(new Set(lost)).toEqual(new Set(messages));
  });

  it.each([
    ['delivered', quick],
    ['exhausted', failing],
  ])('finds nothing wrong with a delivery that is %s', async (_, send) => {
    await webhooks.attemptAll(await webhooks.message(), send);
    waitLong();
    expect(await compare()).toEqual({ events: 1, deliveries: 1, waiting: [], lost: [] });
  });

  it.each([90_000, 3_600_000])('finds an attempt that was made %i ms late', async (lateMs) => {
    const message = await webhooks.message();
    webhooks.clock.now += lateMs;
    await webhooks.deliver(message, quick);
    waitLong();
    expect(await compare()).toMatchObject({ waiting: [], lost: [] });
  });

  it('finds a retry whose message was lost, also where no list of the sweeper has it', async () => {
    const message = await webhooks.message();
    webhooks.clock.now += 90_000;
    await webhooks.deliver(message, failing);
    const [{ message: retry }] = webhooks.queue.sent.slice(-1) as [(typeof webhooks.queue.sent)[number]];
    expect(await compare()).toMatchObject({ waiting: [retry], lost: [] });
    await unlistAttempt(webhooks, retry);
    webhooks.clock.now = Date.parse(retry.dueAt) + 15 * minuteMs;
    expect(await compare()).toMatchObject({ waiting: [], lost: [retry] });
  });

  it('returns the messages of the lost attempts', async () => {
    await webhooks.message();
    waitLong();
    const { lost } = await compare();
    for (const message of lost) await webhooks.deliver(message, failing);
    const { waiting } = await compare();
    webhooks.clock.now = Date.parse(waiting[0]?.dueAt as string);
    for (const message of waiting) await webhooks.deliver(message, quick);
    expect(await compare()).toEqual({ events: 1, deliveries: 1, waiting: [], lost: [] });
  });

  it('expects no delivery to a webhook that is deleted, or was registered after the event', async () => {
    const message = await webhooks.message();
    await deleteWebhook(webhooks, webhooks.organization, message.webhookId);
    webhooks.clock.now += 1;
    await webhooks.register();
    waitLong();
    expect(await compare()).toEqual({ events: 1, deliveries: 0, waiting: [], lost: [] });
  });

  it('includes the events at both ends of its period', async () => {
    await webhooks.message();
    const { organization } = webhooks;
    const at = async (from: number, to: number) =>
      (await compareDeliveries(webhooks, organization, { from, to, now: webhooks.clock() })).events;
    expect(await at(startTime, startTime)).toBe(1);
    expect(await at(startTime - 10, startTime - 1)).toBe(0);
    expect(await at(startTime + 1, startTime + 10)).toBe(0);
  });
});
