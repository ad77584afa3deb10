import { expect, it } from 'vitest';
import type { DeliveryRecord, TestResult } from '../../../../lib/contract/webhooks/webhooks.ts';
import { dataOf } from '../../../api.ts';
import { startReceiver } from '../../../sender/receiver.ts';
import { createWebhookCallers } from '../webhook-caller.ts';

const { newWebhookCaller } = await createWebhookCallers({ ALLOWED_RECEIVERS: '127.0.0.1:*' });

it('a test delivery is answered once the deadline is over where the receiver hangs, and records that it took 10 s', async () => {
  const caller = await newWebhookCaller();
  const hanging = await startReceiver(() => {});
  const id = await caller.put({ url: hanging.url });
  const answer = await caller.test(id);
  expect(answer.status).toBe(200);
  const result = dataOf<TestResult>(answer);
  const failure = { httpStatus: 0, error: 'No answer within 10 s.', durationMs: result.durationMs };
  expect(result).toMatchObject({ ...failure, responseBody: '' });
  expect(result.durationMs).toBeGreaterThanOrEqual(9_900);
  expect(result.durationMs).toBeLessThan(20_000);
  expect(dataOf<DeliveryRecord[]>(await caller.deliveries(id))).toMatchObject([failure]);
  expect(hanging.received).toHaveLength(1);
});
