import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { processContext } from '../../../../lib/context/context.ts';
import { publishEvents } from '../../../../lib/webhooks/deliveries/publish-events.ts';
import { recoverWebhook } from '../../../../lib/webhooks/recoveries/recovery.ts';
import { redeliverDelivery } from '../../../../lib/webhooks/redelivery.ts';
import { updateWebhook } from '../../../../lib/webhooks/webhooks.ts';
import { startReceiver } from '../../../sender/receiver.ts';
import { streamed } from '../../../table-stream.ts';
import { createChange } from '../../../webhooks/test-webhooks.ts';
import { publish, runJob } from '../call-functions.ts';
import { takeTurn } from '../delivery-queues.ts';
import { createTestPipeline, messageOf } from '../test-pipeline.ts';

const pipeline = await createTestPipeline();
const { service, organization, register, publishTask, receive } = pipeline;
const published = new Set<string>();

/** Publishes the new items of a kind, and returns how many there were. */
async function publishNew(kind: 'redelivery' | 'recovery' | 'release'): Promise<number> {
  const records = (await streamed(service, kind)).filter(({ eventID = '' }) => !published.has(eventID));
  for (const { eventID = '' } of records) published.add(eventID);
  expect(await publish(...records)).toEqual([]);
  return records.length;
}

/** Registers a webhook to which a delivery was made, and requests its redelivery. */
async function requestRedelivery() {
  const { url, received } = await startReceiver();
  const { id: webhookId } = await register(url);
  await publishTask();
  const bodies = (await takeTurn(pipeline)).map(({ body }) => messageOf(body));
  const { deliveryId = '' } = bodies.find((message) => message.webhookId === webhookId) ?? {};
  await redeliverDelivery(processContext(), organization, { webhookId, deliveryId }, undefined);
  return received;
}

/** Publishes an event of a minute ago, registers a webhook, and requests the recovery of the event. */
async function requestRecovery() {
  const { url, received } = await startReceiver();
  const since = Date.now() - 60_000;
  await publishEvents(processContext(), createChange(organization, 'task.created', since, `tk_${randomUUID()}`));
  await receive();
  const { id } = await register(url);
  await recoverWebhook(processContext(), organization, id, { since, include: ['never_sent'] }, undefined);
  return received;
}

describe('without a sweep, by the stream,', () => {
  it('a redelivery is made', async () => {
    const received = await requestRedelivery();
    expect(await publishNew('redelivery')).toBe(1);
    await takeTurn(pipeline);
    expect(received).toHaveLength(2);
  });

  it('a recovery sends its first event', async () => {
    const received = await requestRecovery();
    expect(await publishNew('recovery')).toBe(1);
    // The order, and the message of the attempt.
    for (let turn = 0; turn < 2; turn++) await takeTurn(pipeline);
    expect(received).toHaveLength(1);
  });

  it('what a pause held back is sent at its end', async () => {
    const { id: webhookId } = await register('https://example.com/paused');
    for (const active of [false, true])
      await updateWebhook(processContext(), organization, webhookId, { active }, () => {});
    expect(await publishNew('release')).toBe(1);
    expect((await receive()).map((body) => JSON.parse(body))).toEqual([
      { organization, webhookId, order: { kind: 'release', version: 3 } },
    ]);
  });
});

it('the end of a pause starts its work although the one before is not carried out yet', async () => {
  const { id: webhookId } = await register('https://example.com/paused-twice');
  for (const active of [false, true, false, true])
    await updateWebhook(processContext(), organization, webhookId, { active }, () => {});
  expect(await publishNew('release')).toBe(2);
  const versions = (await receive()).map((body) => JSON.parse(body).order.version);
  expect(versions).toEqual([3, 5]);
});

describe('if the stream does not have it, by the next sweep,', () => {
  it('a redelivery is made', async () => {
    const received = await requestRedelivery();
    await runJob('deliveries');
    await takeTurn(pipeline);
    expect(received).toHaveLength(2);
  });

  it('a recovery sends its first event', async () => {
    const received = await requestRecovery();
    await runJob('recoveries');
    await takeTurn(pipeline);
    expect(received).toHaveLength(1);
  });
});

it('a change of what users wait for is not in the stream again', async () => {
  await requestRedelivery();
  await publishNew('redelivery');
  await takeTurn(pipeline);
  expect(await publishNew('redelivery')).toBe(0);
});
