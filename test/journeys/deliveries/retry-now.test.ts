import { expect, it } from 'vitest';
import type { DeliveryRecord, Redelivery } from '../../../lib/contract/webhooks/webhooks.ts';
import { errorOf, successOf } from '../../api.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { startWithClock } from '../clock.ts';
import { attemptsOf, createTask, register } from '../requests.ts';
import { startUnreliable } from '../unreliable-receiver.ts';

/** The time that the API promises for the first attempt. The next sweep can be a minute away. */
const promisedMs = 2_000;

const { service, setClock } = await startWithClock();
const { api } = service;
const events = ['task.created'];

/** Returns the median. One of several times can be long on a busy machine. */
const medianOf = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];

it('what a receiver missed while it was down arrives once, at once, when each delivery is retried now', async () => {
  const receiver = await startUnreliable();
  const id = await register(service, { url: receiver.url, events });
  for (const title of ['One', 'Two', 'Three']) await createTask(service, title);
  const failed = await attemptsOf(service, id, 3);
  receiver.state.isDown = false;
  const redeliver = ({ deliveryId }: DeliveryRecord) => api.redeliverDelivery({ params: { id, deliveryId } });

  // Another worker may still make the same attempt.
  const early = await redeliver(failed[0] as DeliveryRecord);
  expect([early.status, errorOf(early)?.code]).toEqual([409, 'delivery_in_progress']);
  const waitMs = Number(early.headers['Retry-After']) * 1_000;
  expect(waitMs).toBeLessThanOrEqual(31_000);
  await setClock(waitMs);

  const requested = await Promise.all(
    failed.map(async (attempt) => {
      const answer = successOf<Redelivery>(await redeliver(attempt));
      return { answer, at: Date.now() };
    }),
  );
  expect(requested.map(({ answer }) => answer)).toEqual(
    failed.map(({ deliveryId }) => ({ deliveryId, state: 'pending', attempt: 2 })),
  );
  await receiver.next(6);
  const tookMs = requested.map(({ answer, at }) => {
    const arrivals = receiver.received.slice(3).filter(({ body }) => body.deliveryId === answer.deliveryId);
    expect(arrivals).toHaveLength(1);
    return (arrivals[0]?.at ?? Number.NaN) - at;
  });
  expect(medianOf(tookMs)).toBeLessThan(promisedMs);
  const attempts = await attemptsOf(service, id, 6);
  expect(attempts.map(({ attempt, httpStatus }) => [attempt, httpStatus]).toSorted()).toEqual([
    ...Array(3).fill([1, 500]),
    ...Array(3).fill([2, 204]),
  ]);
});

it('three requests at once to retry a delivery lead to one attempt, and two say when to try again', async () => {
  const answers: (() => void)[] = [];
  let isHeld = false;
  const receiver = await startReceiver((response) => {
    const answer = () => response.writeHead(204).end();
    if (isHeld) answers.push(answer);
    else answer();
  });
  const id = await register(service, { url: receiver.url, events });
  await createTask(service, 'Impatience');
  const [{ deliveryId } = expect.fail('no attempt')] = await attemptsOf(service, id, 1);
  // After its end, a further request would be a further redelivery.
  isHeld = true;
  const responses = await Promise.all([1, 2, 3].map(() => api.redeliverDelivery({ params: { id, deliveryId } })));
  const [accepted, ...others] = responses.toSorted((a, b) => a.status - b.status);
  expect(accepted?.body.data).toEqual({ deliveryId, state: 'pending', attempt: 2 });
  for (const other of others) {
    expect([other.status, errorOf(other).code]).toEqual([409, 'delivery_in_progress']);
    expect(other.headers['Retry-After']).toMatch(/^[1-9]\d*$/);
  }
  await receiver.next(2);
  isHeld = false;
  for (const answer of answers) answer();
  await attemptsOf(service, id, 2);
  expect(receiver.received).toHaveLength(2);
});

it('the attempt of a redelivery begins by the stream, and does not wait for a sweep', async () => {
  const receiver = await startReceiver();
  const id = await register(service, { url: receiver.url, events });
  await createTask(service, 'Measured');
  const [{ deliveryId } = expect.fail('no attempt')] = await attemptsOf(service, id, 1);
  const times: number[] = [];
  for (let nth = 1; nth <= 5; nth++) {
    const requestedAt = Date.now();
    successOf(await api.redeliverDelivery({ params: { id, deliveryId } }));
    const received = await receiver.next(nth + 1);
    times.push((received[nth]?.at ?? 0) - requestedAt);
    await attemptsOf(service, id, nth + 1);
  }
  expect(medianOf(times)).toBeLessThan(promisedMs);
});
