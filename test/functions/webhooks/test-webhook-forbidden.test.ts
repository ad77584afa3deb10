import { beforeEach, describe, expect, it } from 'vitest';
import { processContext } from '../../../lib/context.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { DeliveryRecord, TestResult } from '../../../lib/contract/webhooks.ts';
import { insertWebhook } from '../../../lib/table/deliveries/webhooks.ts';
import { dataOf } from '../../api.ts';
import { startReceiver } from '../../webhooks/sender/receiver.ts';
import { createWebhookCallers, type WebhookCaller } from './webhook-caller.ts';

const { service, newWebhookCaller } = await createWebhookCallers();
let caller: WebhookCaller;

beforeEach(async () => {
  caller = await newWebhookCaller();
});

/** Keeps a webhook past the checks of its registration, as one from when the operator allowed it. */
async function putPastTheChecks(url: string): Promise<string> {
  const { ulid, clock } = processContext();
  const [id, createdAt] = [`wh_${ulid()}`, timestamp(clock())];
  const webhook = { id, url, events: ['task.created' as const], active: true, createdAt };
  await insertWebhook({ table: service.table }, caller.organization, webhook, undefined, undefined);
  return id;
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
    await expectNotSent(await putPastTheChecks(receiver.url), /^Not sent: .*https/);
    await expectNotSent(await putPastTheChecks(receiver.url.replace('http:', 'https:')), /^Not sent: .*port/);
    expect(receiver.connections).toEqual([]);
  });

  it.each(['https://127.0.0.1/', 'https://[::1]:8443/', 'https://169.254.169.254/latest/meta-data'])(
    'to the literal address %s',
    async (url) => {
      await expectNotSent(await putPastTheChecks(url), /^Not sent: .*not public/);
    },
  );
});
