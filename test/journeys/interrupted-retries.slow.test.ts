import { expect, it } from 'vitest';
import { type Deployment, startDeployment, until, untilNoneRunsOn } from './deployment.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { type Attempt, attemptsOf, createTask, register } from './stories.ts';

const events = ['task.created'];

/** The first step leaves a slow machine the time to end the service, or delete the webhook, before the retry is due. */
const environment = { RETRY_LADDER: '8,1,1' };
const firstStepMs = 8_000;

/** A delivery that has failed once, and whose retry waits. */
type Waiting = { service: Deployment; receiver: Receiver; webhookId: string; first: Attempt };

/** Starts the service and has an event fail once at a receiver that takes everything from then on. */
async function startWaiting(): Promise<Waiting> {
  const service = await startDeployment({ environment });
  let down = true;
  const receiver = await startReceiver((_, response) => {
    response.writeHead(down ? 500 : 204).end();
    down = false;
  });
  const webhookId = await register(service, { url: receiver.url, events, secret: 'kept over the restart' });
  await createTask(service, 'Waits for its retry');
  const [first] = await attemptsOf(service, webhookId, 1);
  return { service, receiver, webhookId, first: first as Attempt };
}

/** Checks that the one retry came: the same delivery, signed, and in the history. */
async function expectRetried({ receiver, webhookId, first }: Waiting, after: Deployment): Promise<void> {
  const [before, again] = await receiver.next(2);
  expect(again?.body.deliveryId).toBe(before?.body.deliveryId);
  expect(again?.headers['x-service-signature']).toMatch(/^sha256=[0-9a-f]{64}$/);
  const attempts = await attemptsOf(after, webhookId, 2);
  expect(attempts).toMatchObject([
    { attempt: 2, deliveryId: first.deliveryId, httpStatus: 204, redelivery: true },
    { attempt: 1, id: first.id, httpStatus: 500, redelivery: false },
  ]);
  expect(receiver.received).toHaveLength(2);
}

it.concurrent.each(['SIGINT', 'SIGKILL'] as const)(
  'makes a retry when it is due though the service was ended by %s and started again meanwhile',
  async (signal) => {
    const waiting = await startWaiting();
    const { service, receiver, first } = waiting;
    await service.stop(signal);
    await untilNoneRunsOn(service.dataFolder);
    const { dataFolder } = service;
    const after = await startDeployment({ dataFolder, environment });
    const startedAt = Date.now();
    await expectRetried(waiting, after);
    const dueAt = Date.parse(first.deliveredAt) + firstStepMs;
    const cameAt = receiver.received[1]?.at as number;
    expect(cameAt).toBeGreaterThanOrEqual(dueAt);
    expect(cameAt - Math.max(dueAt, startedAt)).toBeLessThan(5_000);
  },
);

it.concurrent.each(['SIGINT', 'SIGKILL'] as const)(
  'makes a retry soon after the start where it fell due while the service was down after %s',
  async (signal) => {
    const waiting = await startWaiting();
    const { service, first } = waiting;
    await service.stop(signal);
    await untilNoneRunsOn(service.dataFolder);
    expect(waiting.receiver.received).toHaveLength(1);
    await until('the retry is due', () => Date.now() > Date.parse(first.deliveredAt) + firstStepMs);
    const { dataFolder } = service;
    const after = await startDeployment({ dataFolder, environment });
    const startedAt = Date.now();
    await expectRetried(waiting, after);
    expect((waiting.receiver.received[1]?.at as number) - startedAt).toBeLessThan(5_000);
  },
);

it.concurrent('sends nothing more to a webhook that is deleted while its retry waits', async () => {
  const service = await startDeployment({ environment });
  const [gone, stays] = await Promise.all(
    [1, 2].map(() => startReceiver((_, response) => response.writeHead(500).end())),
  );
  const [goneId, staysId] = await Promise.all(
    [gone, stays].map((receiver) => register(service, { url: receiver?.url as string, events })),
  );
  await createTask(service, 'Told to one of two');
  await attemptsOf(service, goneId as string, 1);
  expect((await service.api('DELETE', `/api/webhooks/${goneId}`)).status).toBe(200);
  // By the end of the other's ladder the retry of this one was due long since.
  await attemptsOf(service, staysId as string, 4);
  expect([gone?.received.length, stays?.received.length]).toEqual([1, 4]);
  expect((await service.api('GET', `/api/webhooks/${goneId}/deliveries`)).status).toBe(404);
});
