import { expect, it } from 'vitest';
import type { Recovery, RecoveryStarted } from '../../../lib/contract/webhooks/recoveries.ts';
import { dataOf, statusAndCodeOf, successOf } from '../../api.ts';
import { startWithClock } from '../clock.ts';
import { until } from '../deployment.ts';
import { attemptsOf, createTask, register } from '../requests.ts';
import { startUnreliable } from '../unreliable-receiver.ts';
import { announced, completedRecovery, distinct, miss, recoveriesOf } from './missed.ts';

/** The times that the documentation promises. The next sweep can be a minute away. */
const [beginsWithinMs, completedWithinMs] = [2_000, 5_000];

/** After this time, another attempt can take the place of the retry of a failed one. */
const replaceableAfterMs = 31_000;

/** After this time, no attempt of a cancelled recovery begins. */
const stopsWithinMs = 2_000;

/** How long the receiver is watched after that: the recovery would make an attempt each second. */
const watchedMs = 5_000;

it('a recovery sends what is being retried at once, and is completed when that has arrived', async () => {
  const { service, setClock } = await startWithClock();
  const { api } = service;
  const receiver = await startUnreliable();
  const since = new Date().toISOString();
  const id = await register(service, { url: receiver.url, events: ['task.created'] });
  const params = { id };
  await miss(service, receiver, ['One', 'Two', 'Three']);
  await attemptsOf(service, id, 3);
  await announced(service, id, 'webhook.failing');
  await setClock(replaceableAfterMs);
  receiver.state.isDown = false;
  await createTask(service, 'Four');
  await attemptsOf(service, id, 4);
  await announced(service, id, 'webhook.recovered');

  const started = successOf<RecoveryStarted>(await api.recoverWebhook({ params, body: { since } }));
  const respondedAt = Date.now();
  const { recoveryId = '' } = started;
  // Two events about the webhook itself: it fails, and it has recovered.
  expect(started).toEqual({
    recoveryId,
    matched: 3,
    matchedByKind: { exhausted: 0, skipped: 0, retrying: 3, never_sent: 0 },
    leftOut: { delivered: 1, inProgress: 0, notIncluded: 0, notSubscribed: 2, filtered: 0 },
  });
  const received = await receiver.next(7);
  expect((received[4]?.at ?? 0) - respondedAt).toBeLessThan(beginsWithinMs);
  const recovery = await completedRecovery(service, id, recoveryId);
  const lastAt = Math.max(...receiver.received.map(({ at }) => at));
  const completedAt = Date.parse(recovery.completedAt ?? '') - replaceableAfterMs;
  expect(completedAt - lastAt).toBeLessThan(completedWithinMs);
  expect(receiver.titlesAfter(4).toSorted()).toEqual(['One', 'Three', 'Two']);

  expect(recovery).toMatchObject({ state: 'completed', matched: 3, sent: 3, delivered: 3, failed: 0 });
  expect(await recoveriesOf(service, id)).toEqual([recovery]);
  const cancelled = await api.cancelRecovery({ params: { id, recoveryId } });
  expect(statusAndCodeOf(cancelled)).toEqual([409, 'recovery_completed']);

  const again = dataOf<RecoveryStarted>(await api.recoverWebhook({ params, body: { since } }));
  expect(again).toMatchObject({ matched: 0, leftOut: { delivered: 4 } });
  expect(again).not.toHaveProperty('recoveryId');
});

it('a cancelled recovery makes no further attempt, and the next one sends the rest', async () => {
  const { service, setClock } = await startWithClock();
  const { api } = service;
  const receiver = await startUnreliable();
  const since = new Date().toISOString();
  const id = await register(service, { url: receiver.url, events: ['task.created'] });
  const titles = Array.from({ length: 20 }, (_, at) => `Task ${at}`);
  await miss(service, receiver, titles);
  await attemptsOf(service, id, titles.length);
  await setClock(replaceableAfterMs);
  receiver.state.isDown = false;
  const params = { id };
  const recover = (ratePerSecond: number) => api.recoverWebhook({ params, body: { since, ratePerSecond } });

  const { recoveryId = '' } = successOf<RecoveryStarted>(await recover(1));
  await receiver.next(titles.length + 2);
  const cancelled = successOf<Recovery>(await api.cancelRecovery({ params: { id, recoveryId } }));
  const respondedAt = Date.now();
  expect(cancelled).toMatchObject({ id: recoveryId, state: 'cancelled' });
  expect(statusAndCodeOf(await recover(100))).toEqual([409, 'recovery_in_progress']);
  await until('nothing arrives for some seconds', () => Date.now() > respondedAt + stopsWithinMs + watchedMs);
  const late = receiver.received.filter(({ at }) => at > respondedAt + stopsWithinMs);
  expect(late).toEqual([]);
  const made = receiver.received.length - titles.length;
  expect(made).toBeLessThan(titles.length);

  // What was not sent is taken back 35 s after the response.
  await setClock(replaceableAfterMs + 40_000);
  const next = (await until('another recovery begins', async () => {
    const answer = await recover(100);
    return answer.status === 200 && successOf<RecoveryStarted>(answer);
  })) as RecoveryStarted;
  expect(next).toMatchObject({ matched: titles.length - made, matchedByKind: { retrying: titles.length - made } });
  await completedRecovery(service, id, next.recoveryId ?? '');
  expect(distinct(receiver.titlesAfter(titles.length))).toEqual(titles.toSorted());
  expect((await recoveriesOf(service, id)).map(({ state }) => state)).toEqual(['completed', 'cancelled']);
});
