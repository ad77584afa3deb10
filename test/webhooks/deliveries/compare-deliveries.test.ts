import { beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
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

/** Compares the events of a period, by default the first half hour, at a time. */
const compare = (now = webhooks.clock(), from = startTime - 30 * minuteMs, to = startTime + 30 * minuteMs) =>
  compareDeliveries(webhooks, webhooks.organization, { from, to, now });

/** Compares when the message of anything that is due must have been lost. */
const compareLater = () => compare(webhooks.clock() + 15 * minuteMs);

describe('a comparison of events and attempts', () => {
  it('counts the events, also those without subscribers, and their deliveries', async () => {
    await webhooks.publish();
    await webhooks.register();
    await webhooks.register();
    for (let more = 0; more < 3; more++) {
      webhooks.clock.now += 1;
      for (const message of await webhooks.publish()) await webhooks.attempt(message);
    }
    // The webhooks are of the first event's millisecond, which therefore is due to them as well.
    const waiting = [expect.anything(), expect.anything()];
    expect(await compare()).toEqual({ events: 4, deliveries: 8, lost: [], waiting });
  });

  it('counts an attempt that was not made as waiting, and after 15 minutes as lost', async () => {
    const message = await webhooks.message();
    expect(await compare(startTime + 15 * minuteMs - 1)).toMatchObject({ waiting: [message], lost: [] });
    expect(await compare(startTime + 15 * minuteMs)).toMatchObject({ waiting: [], lost: [message] });
  });

  it('finds the lost attempts among many others', async () => {
    await webhooks.register();
    const messages: DeliveryMessage[] = [];
    for (let nth = 0; nth < 120; nth++) {
      const message = await webhooks.nextMessage();
      if (nth % 40 === 0) messages.push(message);
      else await webhooks.attempt(message);
    }
    const { lost, ...others } = await compareLater();
    expect(others).toEqual({ events: 120, deliveries: 120, waiting: [] });
    expect(new Set(lost)).toEqual(new Set(messages));
  });

  it.each([
    ['delivered', {}, 0],
    ['delivered a little late', {}, 90_000],
    ['delivered late', {}, 3_600_000],
    ['exhausted', failed, 0],
  ])('finds nothing wrong with a delivery that is %s', async (_, outcome, lateMs) => {
    const message = await webhooks.message();
    webhooks.clock.now += lateMs;
    await webhooks.attemptAll(message, notingSender(outcome).send);
    expect(await compareLater()).toEqual({ events: 1, deliveries: 1, waiting: [], lost: [] });
  });

  it('finds a retry whose message was lost, also where no list of the sweeper has it', async () => {
    const message = await webhooks.message();
    webhooks.clock.now += 90_000;
    const retry = await webhooks.retry(message);
    expect(await compare()).toMatchObject({ waiting: [retry], lost: [] });
    await unlistAttempt(webhooks, retry);
    webhooks.clock.now = Date.parse(retry.dueAt);
    expect(await compareLater()).toMatchObject({ waiting: [], lost: [retry] });
  });

  it('expects no delivery to a webhook that is deleted, or was registered after the event', async () => {
    const message = await webhooks.message();
    await deleteWebhook(webhooks, webhooks.organization, message.webhookId, () => {});
    webhooks.clock.now += 1;
    await webhooks.register();
    expect(await compareLater()).toEqual({ events: 1, deliveries: 0, waiting: [], lost: [] });
  });

  it('includes the events at both ends of its period', async () => {
    await webhooks.message();
    expect(await compare(startTime, startTime, startTime)).toMatchObject({ events: 1 });
    expect(await compare(startTime, startTime - 10, startTime - 1)).toMatchObject({ events: 0 });
    expect(await compare(startTime, startTime + 1, startTime + 10)).toMatchObject({ events: 0 });
  });
});
