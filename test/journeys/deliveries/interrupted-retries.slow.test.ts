import { expect, it } from 'vitest';
import type { DeliveryRecord } from '../../../lib/contract/webhooks/webhooks.ts';
import { type Receiver, startReceiver } from '../../sender/receiver.ts';
import { type Deployment, startDeployment, until } from '../deployment.ts';
import { attemptsOf, createTask, register } from '../requests.ts';

const events = ['task.created'];

/** The first step is long enough to end the service on a slow machine before the retry is due. */
const environment = { RETRY_LADDER: '8,1,1' };
const firstStepMs = 8_000;

/** The longest delay of a retry after its time, in milliseconds. */
const mostDelayMs = 5_000;

/** A delivery that has failed once, and whose retry waits. */
type Waiting = { service: Deployment; receiver: Receiver; webhookId: string; first: DeliveryRecord };

/** Starts the service and has an event fail once at a receiver that takes everything from then on. */
async function startWaiting(): Promise<Waiting> {
  const service = await startDeployment({ environment });
  let down = true;
  const receiver = await startReceiver((response) => {
    response.writeHead(down ? 500 : 204).end();
    down = false;
  });
  const webhookId = await register(service, { url: receiver.url, events, secret: 'kept over the restart' });
  await createTask(service, 'A task');
  const [first] = await attemptsOf(service, webhookId, 1);
  return { service, receiver, webhookId, first: first as DeliveryRecord };
}

// The soak kills the service while retries wait. It does not stop it by SIGINT, and does not look at the time of a retry.
it.concurrent.each([
  ['before the retry is due', 'SIGKILL'],
  ['before the retry is due', 'SIGINT'],
  ['after the retry was due', 'SIGINT'],
] as const)('makes a retry at its time, signed, when the service starts %s after %s', async (start, signal) => {
  const { service, receiver, webhookId, first } = await startWaiting();
  const { dataFolder } = service;
  await service.stop(signal);
  const dueAt = Date.parse(first.deliveredAt) + firstStepMs;
  if (start === 'after the retry was due') await until('the retry is due', () => Date.now() > dueAt);
  expect(receiver.received).toHaveLength(1);
  const after = await startDeployment({ dataFolder, environment });
  const startedAt = Date.now();
  const [before, again] = await receiver.next(2);
  expect(again?.body.deliveryId).toBe(before?.body.deliveryId);
  expect(again?.headers['x-service-signature']).toMatch(/^sha256=[0-9a-f]{64}$/);
  expect(again?.at).toBeGreaterThanOrEqual(dueAt);
  expect((again?.at as number) - Math.max(dueAt, startedAt)).toBeLessThan(mostDelayMs);
  expect(await attemptsOf(after, webhookId, 2)).toMatchObject([
    { attempt: 2, deliveryId: first.deliveryId, httpStatus: 204, redelivery: true },
    { attempt: 1, id: first.id, httpStatus: 500, redelivery: false },
  ]);
  expect(receiver.received).toHaveLength(2);
});
