import { expect, it } from 'vitest';
import { verifyWebhook } from '../../lib/client/verify-webhook.ts';
import { successOf } from '../api.ts';
import { startReceiver } from '../journeys/receiver.ts';
import { attemptsOf, createTask, moveTask, register } from '../journeys/requests.ts';
import { openDeployed } from './deployed.ts';

/** The longest wait for a delivery: functions start cold, and the stream takes seconds. In milliseconds. */
export const arrivesWithinMs = 60_000;

/** Defines the tests of webhooks and deliveries. */
export function testWebhooks(): void {
  it('delivers each event, signed', async () => {
    const deployed = await openDeployed('subscribers');
    const receiver = await startReceiver();
    const secret = 'whsec_c2VjcmV0';
    const events = ['task.created', 'task.completed'];
    const webhook = await register(deployed, { url: receiver.url, events, secret });
    const id = await createTask(deployed, 'Signed');
    await moveTask(deployed, id, 'done');
    const received = await receiver.next(2, arrivesWithinMs);
    for (const { raw, headers } of received)
      expect(verifyWebhook({ body: raw, headers, secret }).data).toMatchObject({ task: { id } });
    expect(received.map(({ body }) => body.event).sort()).toEqual(['task.completed', 'task.created']);
    const attempts = await attemptsOf(deployed, webhook, 2);
    expect(attempts.map(({ httpStatus, attempt }) => [httpStatus, attempt])).toEqual([
      [204, 1],
      [204, 1],
    ]);
  });

  it('retries by the retry schedule until the receiver takes the delivery', async () => {
    const deployed = await openDeployed('retries');
    const receiver = await startReceiver((_, response) =>
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
    const deployed = await openDeployed('test-deliveries');
    const receiver = await startReceiver((_, response) => response.writeHead(202).end('Thanks.'));
    const secret = 'a secret';
    const webhook = await register(deployed, { url: receiver.url, events: ['agent.failed'], secret });
    const request = { params: { id: webhook }, body: { event: 'task.status_changed' } };
    const tested = successOf<object>(await deployed.api.testWebhook(request));
    expect(tested).toMatchObject({ httpStatus: 202, responseBody: 'Thanks.' });
    const [got] = await receiver.next(1);
    expect(got && verifyWebhook({ body: got.raw, headers: got.headers, secret }).event).toBe('task.status_changed');
  });
}
