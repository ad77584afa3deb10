import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp, ulidOf } from '../../../lib/contract/ids.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { deliveryStateOf, readDeliveryAttempts } from '../../../lib/table/deliveries/delivery-state.ts';
import type { Pause } from '../../../lib/table/webhooks/pauses.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { redeliverDelivery } from '../../../lib/webhooks/redelivery.ts';
import {
  failed,
  notingSender,
  prepareTestWebhooks,
  startTime,
  type TestWebhooks,
} from '../../webhooks/test-webhooks.ts';
import { writeItems } from '../tasks/seed.ts';

const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;
let first: DeliveryMessage;
beforeEach(async () => {
  webhooks = createTestWebhooks();
  first = await webhooks.message();
});

/** Returns the state of the delivery, the numbers of its attempts, and the number of the next one. */
async function state(pauses?: Pause[]) {
  const attempts = await readDeliveryAttempts(webhooks, first);
  const numbers = attempts.rows.map(({ attempt }) => attempt);
  return [deliveryStateOf(attempts, { pauses }, startTime), numbers, attempts.next?.attempt];
}

/** Requests a redelivery, and makes its attempt with an outcome. */
async function redeliver(outcome = {}) {
  const { organization, webhookId, deliveryId } = first;
  await redeliverDelivery(webhooks, organization, { webhookId, deliveryId }, undefined);
  const requested = await state();
  const before = webhooks.queue.sent.length;
  await sweepDeliveries(webhooks, { until: webhooks.clock() });
  for (const { message } of webhooks.queue.sent.slice(before)) await webhooks.attempt(message, outcome);
  return requested;
}

describe('a delivery is', () => {
  it('pending before its first attempt', async () => expect(await state()).toEqual(['pending', [], 1]));

  it('delivered after an attempt that succeeded', async () => {
    await webhooks.attempt(first);
    expect(await state()).toEqual(['delivered', [1], undefined]);
  });

  it('retrying after each of three failed attempts, and exhausted after the fourth', async () => {
    const states = [];
    const { send } = notingSender(failed, async () => states.push(await state()));
    await webhooks.attemptAll(first, send);
    states.push(await state());
    expect(states).toEqual([
      ['pending', [], 1],
      ['retrying', [1], 2],
      ['retrying', [1, 2], 3],
      ['retrying', [1, 2, 3], 4],
      ['exhausted', [1, 2, 3, 4], undefined],
    ]);
  });

  it('pending while a redelivery is due, and delivered if it succeeds', async () => {
    await webhooks.attemptAll(first, notingSender(failed).send);
    expect(await redeliver(failed)).toEqual(['pending', [1, 2, 3, 4], 5]);
    expect(await state()).toEqual(['exhausted', [1, 2, 3, 4, 5], undefined]);
    expect(await redeliver()).toEqual(['pending', [1, 2, 3, 4, 5], 6]);
    expect(await state()).toEqual(['delivered', [1, 2, 3, 4, 5, 6], undefined]);
  });

  it('still delivered after a redelivery that failed', async () => {
    await webhooks.attempt(first);
    await redeliver(failed);
    expect(await state()).toEqual(['delivered', [1, 2], undefined]);
  });
});

describe('a delivery without attempts', () => {
  const at = (ms: number) => timestamp(startTime + ms);

  it.each<[string, Pause[], string]>([
    ['skipped', [{ from: at(0) }], 'the webhook is paused since the event'],
    [
      'skipped',
      [
        { from: at(-9), until: at(-1) },
        { from: at(-1), until: at(1) },
      ],
      'it was paused then',
    ],
    ['pending', [{ from: at(1) }], 'the pause began after the event'],
    ['pending', [{ from: at(-1), until: at(0) }], 'the pause ended at the event'],
  ])('is %s if %j: %s', async (expected, pauses) => expect((await state(pauses))[0]).toBe(expected));

  it('that was skipped is pending as soon as an attempt is requested', async () => {
    const { webhookId, deliveryId, eventId } = first;
    const key = keys.redelivery(webhooks.organization, ulidOf(webhookId), ulidOf(deliveryId), 1);
    await writeItems(webhooks.table, [{ ...key, deliveryId, eventId, attempt: 0, nextAttemptAt: at(60_000) }]);
    expect(await state([{ from: at(0) }])).toEqual(['pending', [], 1]);
  });

  it('that was skipped is delivered as soon as an attempt has succeeded', async () => {
    await webhooks.attempt(first);
    expect((await state([{ from: at(0) }]))[0]).toBe('delivered');
  });
});
