import { describe, expect, it } from 'vitest';
import { processContext } from '../../../../lib/context/context.ts';
import type { DeliveryRecord, TestResult } from '../../../../lib/contract/webhooks/webhooks.ts';
import { registerWebhook } from '../../../../lib/webhooks/registration.ts';
import { dataOf } from '../../../api.ts';
import { newForEachTest } from '../../../caller.ts';
import { startReceiver } from '../../../sender/receiver.ts';
import { createWebhookCallers, newWebhook } from '../webhook-caller.ts';

const { newWebhookCaller } = await createWebhookCallers();
const caller = newForEachTest(newWebhookCaller);

/** Registers a webhook like one from when the operator allowed its receiver. */
async function putAllowed(url: string): Promise<string> {
  const context = { ...processContext(), allowedReceivers: () => true };
  return (await registerWebhook(context, caller.organization, { ...newWebhook, url }, undefined)).id;
}

/** Tests a webhook whose receiver may not be sent to. */
async function expectNotSent(id: string, why: RegExp): Promise<void> {
  const answer = await caller.test(id);
  const failure = { httpStatus: 0, error: expect.stringMatching(why) };
  expect(answer.status).toBe(200);
  expect(dataOf<TestResult>(answer)).toMatchObject({ ...failure, responseBody: '' });
  expect(dataOf<DeliveryRecord[]>(await caller.deliveries(id))).toMatchObject([failure]);
}

describe('where the operator opens no receivers, a test delivery is a recorded attempt that is not sent', () => {
  it('to a name that means the machine itself', async () => {
    await expectNotSent(await caller.put({ url: 'https://localhost:8443/hooks' }), /^Not sent: .*not a public name/);
  });

  it('to an address that was allowed when the webhook was registered', async () => {
    const receiver = await startReceiver();
    await expectNotSent(await putAllowed(receiver.url), /^Not sent: .*https/);
    await expectNotSent(await putAllowed(receiver.url.replace('http:', 'https:')), /^Not sent: .*port/);
    await expectNotSent(await putAllowed('https://[::1]:8443/'), /^Not sent: .*not public/);
    expect(receiver.connections).toEqual([]);
  });
});
