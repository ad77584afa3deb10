import * as v from 'valibot';
import { beforeEach, describe, expect, it } from 'vitest';
import { NewRecovery } from '../../../lib/contract/webhooks/recoveries.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { getDelivery } from '../../../lib/webhooks/delivery-details.ts';
import { failed, prepareTestWebhooks, type TestWebhooks } from '../test-webhooks.ts';
import { exhaust, recover, runToEnd, sweep } from './test-recoveries.ts';

const minuteMs = 60_000;
const include = ['retrying' as const];
let webhooks: TestWebhooks;
let id: string;

beforeEach(async () => {
  webhooks = (await prepareTestWebhooks())();
  id = (await webhooks.register()).id;
});

/** Publishes an event whose first attempt fails, and returns the message of its retry. */
const newRetry = async () => webhooks.retry(await webhooks.nextMessage());

describe('a recovery of deliveries that are retrying', () => {
  it('makes the attempt with the number of the retry, and begins the retry schedule again', async () => {
    const retries = [await newRetry(), await newRetry()];
    webhooks.clock.now += 30_001;
    expect(await recover(webhooks, id, { include })).toMatchObject({
      matched: 2,
      matchedByKind: { exhausted: 0, skipped: 0, retrying: 2, never_sent: 0 },
    });
    const sent = await sweep(webhooks);
    expect(sent).toMatchObject([{ message: { attempt: 2 } }, { message: { attempt: 2 } }]);
    webhooks.clock.now += 1_000;
    for (const { message } of sent)
      expect(await webhooks.attempt(message, failed)).toMatchObject({
        posts: 1,
        sent: [{ message: { attempt: 3 }, delaySeconds: 300 }],
      });
    webhooks.clock.now = Date.parse(retries[1]?.dueAt as string);
    for (const retry of retries) expect(await webhooks.attempt(retry)).toEqual({ posts: 0, sent: [] });
  });

  it.each<[string, (retry: DeliveryMessage) => number, number]>([
    ['30 seconds after the last attempt', ({ dueAt }) => Date.parse(dueAt) - 5 * minuteMs + 30_000, 0],
    ['later', ({ dueAt }) => Date.parse(dueAt) - 5 * minuteMs + 30_001, 1],
    ['more than 15 seconds before the retry', ({ dueAt }) => Date.parse(dueAt) - 15_001, 1],
    ['15 seconds before the retry', ({ dueAt }) => Date.parse(dueAt) - 15_000, 0],
  ])('%s sends %3$i events', async (_, at, matched) => {
    const retry = await newRetry();
    webhooks.clock.now = at(retry);
    const counted = await recover(webhooks, id, { include, dryRun: true });
    expect(counted).toMatchObject({ matched, leftOut: { inProgress: 1 - matched } });
  });

  it('leaves a retry alone that came due between the request and the attempt', async () => {
    const retry = await newRetry();
    webhooks.clock.now = Date.parse(retry.dueAt) - 20_000;
    const { recoveryId } = await recover(webhooks, id, { include });
    webhooks.clock.now = Date.parse(retry.dueAt);
    expect(await webhooks.attempt(retry)).toMatchObject({ posts: 1 });
    expect(await runToEnd(webhooks, id, recoveryId)).toEqual([]);
  });

  it('is begun by a repeated sweep for each delivery once', async () => {
    const retry = await newRetry();
    webhooks.clock.now += 30_001;
    const { recoveryId } = await recover(webhooks, id, { include });
    const { deliveryId } = retry;
    expect(await runToEnd(webhooks, id, recoveryId)).toMatchObject([{ deliveryId, attempt: 2 }]);
    expect(await getDelivery(webhooks, webhooks.organization, { webhookId: id, deliveryId })).toMatchObject({
      state: 'delivered',
      attempts: [{ attempt: 1 }, { attempt: 2, redelivery: true }],
    });
  });
});

it('a recovery takes exhausted, skipped and retrying deliveries by default, and says why it leaves the others out', async () => {
  await webhooks.attempt(await webhooks.nextMessage());
  await exhaust(webhooks);
  await newRetry();
  webhooks.clock.now += 30_001;
  await webhooks.nextMessage();
  await webhooks.publish(webhooks.change('task.completed'));
  expect(
    await recover(webhooks, id, { ...v.parse(NewRecovery, { since: '2026-01-01T00:00:00Z' }), dryRun: true }),
  ).toEqual({
    matched: 2,
    matchedByKind: { exhausted: 1, skipped: 0, retrying: 1, never_sent: 0 },
    leftOut: { delivered: 1, inProgress: 1, notIncluded: 0, notSubscribed: 1, filtered: 0 },
  });
  expect(await recover(webhooks, id, { include: ['skipped'], dryRun: true })).toMatchObject({
    matched: 0,
    leftOut: { notIncluded: 2 },
  });
  expect(await recover(webhooks, id, { events: ['task.completed'], dryRun: true })).toMatchObject({
    leftOut: { notIncluded: 2, notSubscribed: 1 },
  });
});
