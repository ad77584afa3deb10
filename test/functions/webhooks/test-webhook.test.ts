import { createHmac } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import * as v from 'valibot';
import { beforeEach, describe, expect, it } from 'vitest';
import { ExecutionEventData, eventNames, TaskEventData } from '../../../lib/contract/events.ts';
import type { DeliveryRecord, TestResult, Webhook } from '../../../lib/contract/webhooks.ts';
import { dataOf, paginationOf } from '../../api.ts';
import { type Receiver, startReceiver } from '../../webhooks/sender/receiver.ts';
import { failed } from '../../webhooks/test-webhooks.ts';
import { createWebhookCallers, type WebhookCaller } from './webhook-caller.ts';

const { newWebhookCaller, queued } = await createWebhookCallers({ ALLOWED_RECEIVERS: '127.0.0.1:*' });
let caller: WebhookCaller;
let receiver: Receiver;

beforeEach(async () => {
  caller = await newWebhookCaller();
  receiver = await startReceiver((response) => response.writeHead(202).end('thank you'));
});

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const history = async (id: string) => dataOf<DeliveryRecord[]>(await caller.deliveries(id));

/** The one request that the receiver got. */
function got() {
  expect(receiver.received).toHaveLength(1);
  const [{ method, headers, raw }] = receiver.received as [Receiver['received'][number]];
  const text = raw.toString('utf8');
  return { method, headers: headers as Record<string, string>, raw, text, body: JSON.parse(text) };
}

describe('a test delivery', () => {
  it('answers 200 with exactly deliveryId, httpStatus, responseBody and durationMs', async () => {
    const id = await caller.put({ url: receiver.url });
    const answer = await caller.test(id);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      success: true,
      data: {
        deliveryId: expect.stringMatching(/^dlv_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
        httpStatus: 202,
        responseBody: 'thank you',
        durationMs: expect.any(Number),
      },
    });
    expect(Object.keys(dataOf(answer))).toEqual(['deliveryId', 'httpStatus', 'responseBody', 'durationMs']);
    expect(dataOf<TestResult>(answer).durationMs).toBeGreaterThanOrEqual(0);
  });

  it.each(eventNames)('posts %s to a webhook that is subscribed to it, and to one that is not', async (event) => {
    const others = eventNames.filter((other) => other !== event);
    const shape = event.startsWith('task.') ? TaskEventData : ExecutionEventData;
    for (const events of [[event], others]) {
      const id = await caller.put({ url: receiver.url, events });
      expect(dataOf<TestResult>(await caller.test(id, { event })).httpStatus).toBe(202);
      const { method, headers, body } = got();
      expect([method, headers['x-service-event'], body.event]).toEqual(['POST', event, event]);
      expect(v.parse(shape, body.data)).toEqual(body.data);
      receiver.received.length = 0;
    }
  });

  it('has exactly event, deliveryId, timestamp and data, the timestamp of now in body and header', async () => {
    const id = await caller.put({ url: receiver.url });
    const before = Date.now();
    const { deliveryId } = dataOf<TestResult>(await caller.test(id));
    const { headers, body } = got();
    expect(Object.keys(body)).toEqual(['event', 'deliveryId', 'timestamp', 'data']);
    expect([body.deliveryId, headers['x-service-delivery']]).toEqual([deliveryId, deliveryId]);
    expect(body.timestamp).toMatch(isoTime);
    const sentAt = Date.parse(body.timestamp);
    expect(sentAt).toBeGreaterThanOrEqual(before);
    expect(sentAt).toBeLessThanOrEqual(Date.now());
    expect(headers['x-service-timestamp']).toBe(String(Math.floor(sentAt / 1000)));
  });

  it('is signed with the secret over the bytes that are sent, in both ways', async () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const id = await caller.put({ url: receiver.url, secret });
    await caller.test(id);
    const { headers, raw, text, body } = got();
    expect(headers['x-service-signature']).toBe(`sha256=${createHmac('sha256', secret).update(raw).digest('hex')}`);
    expect(new StandardWebhook(secret).verify(text, headers)).toEqual(body);
    expect(text + JSON.stringify(headers)).not.toContain(secret);
  });

  it('is signed in no way where there is no secret', async () => {
    await caller.test(await caller.put({ url: receiver.url }));
    const names = Object.keys(got().headers);
    expect(names).toContain('x-service-delivery');
    expect(names.filter((name) => /signature|^webhook-/.test(name))).toEqual([]);
  });

  it('is another one each time', async () => {
    const id = await caller.put({ url: receiver.url });
    const answers = [await caller.test(id), await caller.test(id)];
    expect(new Set(answers.map((answer) => dataOf<TestResult>(answer).deliveryId)).size).toBe(2);
    const [one, other] = receiver.received.map(({ raw }) => JSON.parse(raw.toString('utf8')).data.task.id);
    expect(one).not.toBe(other);
  });
});

describe('the history', () => {
  it('has a test delivery as a first attempt, and the webhook when it ended', async () => {
    const id = await caller.put({ url: receiver.url });
    const { deliveryId, durationMs } = dataOf<TestResult>(await caller.test(id, { event: 'agent.failed' }));
    const records = await history(id);
    expect(records).toEqual([
      {
        id: deliveryId,
        deliveryId,
        attempt: 1,
        event: 'agent.failed',
        httpStatus: 202,
        durationMs,
        deliveredAt: expect.stringMatching(isoTime),
        redelivery: false,
      },
    ]);
    expect(dataOf<Webhook>(await caller.get(id)).lastDeliveryAt).toBe(records[0]?.deliveredAt);
  });

  it('moves lastDeliveryAt on with each of them', async () => {
    const id = await caller.put({ url: receiver.url });
    const ends: (string | undefined)[] = [];
    for (let nth = 0; nth < 2; nth++) {
      await caller.test(id);
      ends.push(dataOf<Webhook>(await caller.get(id)).lastDeliveryAt);
    }
    expect(ends).toEqual((await history(id)).map(({ deliveredAt }) => deliveredAt).reverse());
    expect(new Set(ends).size).toBe(2);
  });

  it('has each of several that are sent at once', async () => {
    const id = await caller.put({ url: receiver.url });
    const answers = await Promise.all(Array.from({ length: 5 }, () => caller.test(id)));
    const ids = answers.map((answer) => dataOf<TestResult>(answer).deliveryId);
    expect((await history(id)).map((record) => record.id).sort()).toEqual(ids.sort());
    expect(paginationOf(await caller.deliveries(id)).total).toBe(5);
  });
});

describe('what a test delivery leaves behind', () => {
  it.each([200, 500])('is its row in the history and nothing else, after %i too', async (status) => {
    const { url } = await startReceiver((response) => response.writeHead(status).end());
    const id = await caller.put({ url, secret: 'a secret' });
    const before = await caller.dump();
    await caller.test(id);
    const after = await caller.dump();
    const fresh = Object.keys(after).filter((key) => !(key in before));
    expect(fresh).toEqual([expect.stringMatching(new RegExp(`#WD#${id.slice(3)} A#[0-9A-Z]+$`))]);
    const changed = Object.keys(before).filter((key) => !isDeepStrictEqual(before[key], after[key]));
    expect(changed).toEqual([]);
  });

  it('is nothing that would have it made again: no message, no entry for the sweeper', async () => {
    const { url, received } = await startReceiver((response) => response.writeHead(503).end());
    const id = await caller.put({ url });
    await caller.test(id);
    expect(received).toHaveLength(1);
    expect(await queued()).toBe(0);
    const items = Object.values(await caller.dump()) as Record<string, unknown>[];
    expect(items.filter((item) => 'due' in item)).toEqual([]);
    // What is not a test is made again, and could be seen here.
    await caller.attempt(id, failed);
    expect(await queued()).toBe(1);
  });
});
