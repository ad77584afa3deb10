import { expect, it } from 'vitest';
import { newClockFile, startWithClock } from '../clock.ts';
import { attemptsOf, createTask, register } from '../requests.ts';
import { startUnreliable } from '../unreliable-receiver.ts';
import { announced, completedRecovery, distinct, miss, recoveriesOf } from './missed.ts';

const minuteMs = 60_000;
const replaceableAfterMs = 31_000;

/** So long that what arrives again within the test is sent by a recovery. */
const environment = { RETRY_LADDER: '80000,80000,80000' };
const webhook = { events: ['task.created'], autoRecover: true };

it('what a webhook with autoRecover missed arrives although the service is killed in the middle of the recovery', async () => {
  const clockFile = newClockFile(0);
  const { service, setClock } = await startWithClock({ environment }, clockFile);
  const { dataFolder } = service;
  const receiver = await startUnreliable();
  const id = await register(service, { url: receiver.url, ...webhook });
  const titles = Array.from({ length: 60 }, (_, at) => `Task ${at}`);
  await miss(service, receiver, titles);
  await attemptsOf(service, id, titles.length);
  await announced(service, id, 'webhook.failing');
  await setClock(replaceableAfterMs);
  receiver.state.isDown = false;
  await createTask(service, 'The first success');
  await receiver.next(titles.length + 1 + 15);
  await service.stop('SIGKILL');
  const made = new Set(receiver.titlesAfter(titles.length)).size;
  expect(made).toBeLessThan(titles.length);

  const { service: after, setClock: setClockAfter } = await startWithClock({ dataFolder, environment }, clockFile);
  const all = [...titles, 'The first success'].toSorted();
  await receiver.once('all tasks', () => new Set(receiver.titlesAfter(titles.length)).size === all.length, 200_000);
  const [{ id: recoveryId } = expect.fail('no recovery'), ...others] = await recoveriesOf(after, id);
  expect(others).toEqual([]);
  await setClockAfter(replaceableAfterMs + 2 * minuteMs);
  const recovery = await completedRecovery(after, id, recoveryId, 200_000);
  expect(recovery).toMatchObject({ auto: true, sent: titles.length, delivered: titles.length, failed: 0 });
  const delivered = (await attemptsOf(after, id, 100)).filter(({ httpStatus }) => httpStatus === 204);
  expect(distinct(delivered.map(({ deliveryId }) => deliveryId))).toHaveLength(all.length);
  // Only posts whose rows were not written before the kill are repeated.
  expect(receiver.received.length - titles.length - all.length).toBeLessThanOrEqual(10);
});

it('a receiver that fails again and again leads to one recovery in ten minutes, and misses nothing', async () => {
  const { service, setClock } = await startWithClock({ environment });
  const receiver = await startUnreliable();
  const id = await register(service, { url: receiver.url, ...webhook });
  const missed: string[] = [];
  /** Lets the receiver fail three times, and then succeed once. */
  const flap = async (nth: number) => {
    const titles = [1, 2, 3].map((task) => `Missed ${nth}.${task}`);
    missed.push(...titles);
    await miss(service, receiver, titles);
    await announced(service, id, 'webhook.failing', nth);
    receiver.state.isDown = false;
    const success = `Success ${nth}`;
    await createTask(service, success);
    await receiver.once(success, () => receiver.titlesAfter(0).includes(success));
  };
  const arrivedAll = () => receiver.once('all missed tasks', () => missed.every((title) => arrivals(title) === 2));
  const arrivals = (title: string) => receiver.titlesAfter(0).filter((one) => one === title).length;

  await flap(1);
  // The first three are sent when the recovery goes over its range once more: they have just failed.
  await arrivedAll();
  const [{ id: firstId } = expect.fail('no recovery')] = await recoveriesOf(service, id);
  await completedRecovery(service, id, firstId);
  for (const nth of [2, 3, 4]) await flap(nth);
  await setClock(8 * minuteMs);
  expect((await recoveriesOf(service, id)).map((one) => one.id)).toEqual([firstId]);

  await setClock(12 * minuteMs);
  await arrivedAll();
  const [second, first, ...others] = await recoveriesOf(service, id);
  expect(others).toEqual([]);
  expect([second?.auto, first?.auto]).toEqual([true, true]);
  const gapMs = Date.parse(second?.createdAt ?? '') - Date.parse(first?.createdAt ?? '');
  expect(gapMs).toBeGreaterThanOrEqual(10 * minuteMs);
  await completedRecovery(service, id, second?.id ?? '');
  expect(distinct(receiver.titlesAfter(0).filter((title) => title.startsWith('Success')))).toHaveLength(4);
  expect(missed.map(arrivals)).toEqual(missed.map(() => 2));
});
