import { expect, it } from 'vitest';
import { verifyWebhook } from '../../../lib/client/verify-webhook.ts';
import type { DeliveryRecord } from '../../../lib/contract/webhooks/webhooks.ts';
import { dataOf, errorOf, successOf } from '../../api.ts';
import { type Receiver, startReceiver } from '../../sender/receiver.ts';
import { startDeployment } from '../deployment.ts';
import { attemptsOf, createTask, register } from '../requests.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const environment = { RETRY_LADDER: '1,1,1' };

/** The longest time until the sweeper of the local service has found a redelivery and its attempt is made. */
const redeliveredWithinMs = 120_000;

it('a receiver that was down gets the event by a redelivery, although the service is killed after it has answered', async () => {
  const service = await startDeployment({ environment });
  let down = true;
  const receiver: Receiver = await startReceiver((response) => response.writeHead(down ? 503 : 204).end());
  const id = await register(service, { url: receiver.url, events: ['task.created'], secret });
  await createTask(service, 'A task');
  const [, , , first] = (await attemptsOf(service, id, 4, 60_000)) as [unknown, unknown, unknown, DeliveryRecord];
  const { deliveryId } = first;
  const params = { id, deliveryId };
  const headers = { 'Idempotency-Key': 'after-the-outage' };

  down = false;
  const answer = await service.api.redeliverDelivery({ params, headers });
  expect(successOf(answer)).toEqual({ deliveryId, state: 'pending', attempt: 5 });
  await service.stop('SIGKILL');
  const { dataFolder } = service;
  const after = await startDeployment({ dataFolder, environment });
  const again = await after.api.redeliverDelivery({ params, headers });
  expect([again.status, again.body]).toEqual([200, answer.body]);

  const attempts = await attemptsOf(after, id, 5, redeliveredWithinMs);
  expect(attempts).toMatchObject([
    { attempt: 5, deliveryId, httpStatus: 204, redelivery: true },
    ...[4, 3, 2, 1].map((attempt) => ({ attempt, deliveryId, httpStatus: 503, redelivery: attempt > 1 })),
  ]);
  // The attempt begins at once. So the kill can come after its request and before its row: then it is made once more.
  const posts = receiver.received.length;
  expect([5, 6]).toContain(posts);
  expect(new Set(receiver.received.map(({ headers }) => headers['x-service-delivery']))).toEqual(new Set([deliveryId]));
  const { raw: body, headers: signed } = receiver.received[4] as Receiver['received'][number];
  expect(await verifyWebhook({ body, headers: signed, secret })).toMatchObject({ event: 'task.created', deliveryId });

  // A repeated request gets the same response, and another one is another redelivery.
  expect(dataOf(await after.api.redeliverDelivery({ params, headers }))).toEqual(successOf(answer));
  successOf(await after.api.redeliverDelivery({ params }));
  expect(errorOf(await after.api.redeliverDelivery({ params }))?.code).toBe('delivery_in_progress');
  expect(await attemptsOf(after, id, 6, redeliveredWithinMs)).toHaveLength(6);
  expect(receiver.received).toHaveLength(posts + 1);
});
