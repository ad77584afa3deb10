import { expect, it } from 'vitest';
import type { Delivery, TestResult } from '../../lib/client/operations.ts';
import { verifyWebhook } from '../../lib/client/verify-webhook.ts';
import { successOf } from '../api.ts';
import { attemptsOf, createTask, moveTask, register } from '../journeys/requests.ts';
import { startReceiver } from '../sender/receiver.ts';
import { createDeployedOrganization } from './deployed.ts';

/** The longest wait for a delivery: functions start cold, and the stream takes seconds. In milliseconds. */
export const arrivesWithinMs = 60_000;

export function testWebhooks(): void {
  it('delivers each event, signed', async () => {
    const deployed = await createDeployedOrganization('subscribers');
    const receiver = await startReceiver();
    const secret = 'whsec_c2VjcmV0';
    const events = ['task.created', 'task.completed'];
    const webhook = await register(deployed, { url: receiver.url, events, secret });
    const id = await createTask(deployed, 'Signed');
    await moveTask(deployed, id, 'done');
    const received = await receiver.next(2, arrivesWithinMs);
    for (const { raw, headers } of received)
      expect((await verifyWebhook({ body: raw, headers, secret })).data).toMatchObject({ task: { id } });
    expect(received.map(({ body }) => body.event).sort()).toEqual(['task.completed', 'task.created']);
    const attempts = await attemptsOf(deployed, webhook, 2);
    expect(attempts.map(({ httpStatus, attempt }) => [httpStatus, attempt])).toEqual([
      [204, 1],
      [204, 1],
    ]);
  });

  it('signs events and tests with both secrets after a rotation', async () => {
    const deployed = await createDeployedOrganization('rotations');
    const receiver = await startReceiver();
    const [before, after] = ['the secret before', 'the secret after'] as const;
    const id = await register(deployed, { url: receiver.url, events: ['task.created'], secret: before });
    const params = { id };
    successOf(await deployed.api.rotateWebhookSecret({ params, body: { secret: after } }));
    successOf(await deployed.api.testWebhook({ params, body: { event: 'agent.failed' } }));
    await createTask(deployed, 'Signed twice');
    for (const { raw: body, headers } of await receiver.next(2, arrivesWithinMs))
      for (const secret of [before, after]) expect(await verifyWebhook({ body, headers, secret })).toBeDefined();
  });

  it('retries by the retry schedule until the receiver takes the delivery', async () => {
    const deployed = await createDeployedOrganization('retries');
    const receiver = await startReceiver((response) =>
      response.writeHead(receiver.received.length < 4 ? 500 : 204).end(),
    );
    const webhook = await register(deployed, { url: receiver.url, events: ['task.created'] });
    await createTask(deployed, 'Again and again');
    await receiver.next(4, arrivesWithinMs);
    const attempts = await attemptsOf(deployed, webhook, 4);
    expect(attempts.map(({ httpStatus, attempt }) => [attempt, httpStatus])).toEqual([
      [4, 204],
      [3, 500],
      [2, 500],
      [1, 500],
    ]);
    const ended = attempts.map(({ deliveredAt }) => Date.parse(deliveredAt)).reverse();
    const waits = ended.slice(1).map((at, index) => at - (ended[index] as number));
    for (const [index, least] of [2_000, 3_000, 4_000].entries()) expect(waits[index]).toBeGreaterThanOrEqual(least);
    expect(new Set(receiver.received.map(({ body }) => body.deliveryId)).size).toBe(1);
  });

  it('a test delivery returns the response of the receiver', async () => {
    const deployed = await createDeployedOrganization('test-deliveries');
    const receiver = await startReceiver((response) => response.writeHead(202).end('Thanks.'));
    const secret = 'a secret';
    const webhook = await register(deployed, { url: receiver.url, events: ['agent.failed'], secret });
    const request = { params: { id: webhook }, body: { event: 'task.status_changed' } };
    const tested = successOf<TestResult>(await deployed.api.testWebhook(request));
    expect(tested).toMatchObject({ httpStatus: 202, responseBody: 'Thanks.' });
    const [got] = await receiver.next(1);
    expect(got && (await verifyWebhook({ body: got.raw, headers: got.headers, secret })).event).toBe(
      'task.status_changed',
    );
    const params = { id: webhook, deliveryId: tested.deliveryId };
    const details = successOf<Delivery>(await deployed.api.getDelivery({ params }));
    expect(details).toMatchObject({ state: 'delivered', body: got?.raw.toString('utf8') });
    expect(details.attempts).toMatchObject([{ httpStatus: 202, responseBody: 'Thanks.' }]);
  });
}
