import { createHmac } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { beforeEach, describe, expect, it } from 'vitest';
import { eventNames } from '../../../../lib/contract/webhooks/events.ts';
import type { DeliveryRecord, TestResult, Webhook } from '../../../../lib/contract/webhooks/webhooks.ts';
import { dataOf } from '../../../api.ts';
import { newForEachTest } from '../../../caller.ts';
import { type Receiver, startReceiver } from '../../../sender/receiver.ts';
import { failed } from '../../../webhooks/test-webhooks.ts';
import { createWebhookCallers } from '../webhook-caller.ts';

const { newWebhookCaller, queued } = await createWebhookCallers({ ALLOWED_RECEIVERS: '127.0.0.1:*' });
const caller = newForEachTest(newWebhookCaller);
let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver((response) => response.writeHead(202).end('thank you'));
});

/** Returns the only request that the receiver got, and forgets it. */
function got() {
  expect(receiver.received).toHaveLength(1);
  const [{ method, headers, raw }] = receiver.received.splice(0) as [Receiver['received'][number]];
  const text = raw.toString('utf8');
  return { method, headers: headers as Record<string, string>, raw, text, body: JSON.parse(text) };
}

describe('a test delivery', () => {
  it('answers 200 with exactly deliveryId, httpStatus, responseBody and durationMs', async () => {
    const answer = await caller.test(await caller.put({ url: receiver.url }));
    expect(answer.status).toBe(200);
    const deliveryId = expect.stringMatching(/^dlv_[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    const data = { deliveryId, httpStatus: 202, responseBody: 'thank you', durationMs: expect.any(Number) };
    expect(answer.body).toEqual({ success: true, data });
    expect(Object.keys(dataOf(answer))).toEqual(Object.keys(data));
  });

  it.each(eventNames)('posts %s to a webhook that is subscribed to it, and to one that is not', async (event) => {
    const others = eventNames.filter((other) => other !== event);
    for (const events of [[event], others]) {
      const id = await caller.put({ url: receiver.url, events });
      expect(dataOf<TestResult>(await caller.test(id, { event })).httpStatus).toBe(202);
      const { method, headers, body } = got();
      expect([method, headers['x-service-event'], body.event]).toEqual(['POST', event, event]);
    }
  });

  it('is signed with the secret over the bytes that are sent, in both ways', async () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    await caller.test(await caller.put({ url: receiver.url, secret }));
    const { headers, raw, text, body } = got();
    expect(headers['x-service-signature']).toBe(`sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`);
    expect(new StandardWebhook(secret).verify(text, headers)).toEqual(body);
    expect(text + JSON.stringify(headers)).not.toContain(secret);
  });

  it('is a first attempt in the history, another one each time, and moves lastDeliveryAt of the webhook', async () => {
    const id = await caller.put({ url: receiver.url });
    const first = dataOf<TestResult>(await caller.test(id, { event: 'task.created' }));
    const firstBody = got().body;
    const { deliveryId, durationMs } = dataOf<TestResult>(await caller.test(id, { event: 'agent.failed' }));
    const records = dataOf<DeliveryRecord[]>(await caller.deliveries(id));
    expect(records.map((record) => record.id).sort()).toEqual([first.deliveryId, deliveryId].sort());
    const record = records.find((one) => one.id === deliveryId);
    const fields = { deliveryId, attempt: 1, event: 'agent.failed', durationMs, redelivery: false, test: true };
    expect(record).toMatchObject(fields);
    expect(dataOf<Webhook>(await caller.get(id)).lastDeliveryAt).toBe(record?.deliveredAt);
    expect(got().body.deliveryId).not.toBe(firstBody.deliveryId);
  });
});

describe('what a test delivery leaves behind', () => {
  it.each([200, 500])('is its row in the history and the response, which expires, after %i too', async (status) => {
    const { url } = await startReceiver((response) => response.writeHead(status).end('of the receiver'));
    const id = await caller.put({ url, secret: 'a secret' });
    const before = await caller.dump();
    await caller.test(id);
    const after = await caller.dump();
    const added = Object.keys(after).filter((key) => !(key in before));
    expect(added).toEqual([
      expect.stringMatching(new RegExp(`#WB#${id.slice(3)} [0-9A-Z]+$`)),
      expect.stringMatching(new RegExp(`#WD#${id.slice(3)} A#[0-9A-Z]+$`)),
    ]);
    const withText = Object.values(after).filter((item) => JSON.stringify(item).includes('of the receiver'));
    expect(withText).toMatchObject([{ expiresAt: expect.any(Number) }]);
    expect(Object.keys(before).filter((key) => !isDeepStrictEqual(before[key], after[key]))).toEqual([]);
  });

  it('is nothing that would have it made again: no message, no entry for the sweeper', async () => {
    const { url, received } = await startReceiver((response) => response.writeHead(503).end());
    const id = await caller.put({ url });
    await caller.test(id);
    expect(received).toHaveLength(1);
    expect(await queued()).toBe(0);
    const items = Object.values(await caller.dump()) as Record<string, unknown>[];
    expect(items.filter((item) => 'due' in item)).toEqual([]);
    // An attempt that is not a test is retried, and its message is seen here.
    await caller.attempt(id, failed);
    expect(await queued()).toBe(1);
  });
});
