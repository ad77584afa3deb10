import { expect, it } from 'vitest';
import type { DeliveryRecord, TestResult } from '../../../lib/contract/webhooks.ts';
import { dataOf } from '../../api.ts';
import { drip, startReceiver } from '../../webhooks/sender/receiver.ts';
import { createWebhookCallers } from './webhook-caller.ts';

/** The deadline of an attempt. What else a request does takes no second, but may on a busy machine. */
const deadlineMs = 10_000;

const { newWebhookCaller } = await createWebhookCallers({ ALLOWED_RECEIVERS: '127.0.0.1:*' });

it.concurrent('answers once the deadline is over where the receiver hangs, and records that it took 10 s', async () => {
  const caller = await newWebhookCaller();
  const hanging = await startReceiver(() => {});
  const id = await caller.put({ url: hanging.url });
  const startedAt = performance.now();
  const answer = await caller.test(id);
  expect(performance.now() - startedAt).toBeLessThan(2 * deadlineMs);
  expect(answer.status).toBe(200);
  const result = dataOf<TestResult>(answer);
  const failure = { httpStatus: 0, error: 'No answer within 10 s.', durationMs: result.durationMs };
  expect(result).toMatchObject({ ...failure, responseBody: '' });
  expect(result.durationMs).toBeGreaterThanOrEqual(9_900);
  expect(dataOf<DeliveryRecord[]>(await caller.deliveries(id))).toMatchObject([failure]);
  expect(hanging.received).toHaveLength(1);
});

it.concurrent('is a success at the deadline where the headers came and the body drips', async () => {
  const caller = await newWebhookCaller();
  const dripping = await startReceiver((response) => drip(response.writeHead(200), 'a'));
  const id = await caller.put({ url: dripping.url });
  const startedAt = performance.now();
  const result = dataOf<TestResult>(await caller.test(id));
  expect(performance.now() - startedAt).toBeLessThan(2 * deadlineMs);
  expect(result).toMatchObject({ httpStatus: 200, responseBody: expect.stringMatching(/^a+$/) });
  expect(result).not.toHaveProperty('error');
});
