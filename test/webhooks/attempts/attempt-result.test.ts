import { expect, it } from 'vitest';
import type { Outcome } from '../../../lib/sender/sender.ts';
import { attemptResultOf } from '../../../lib/webhooks/attempts/attempt-result.ts';

const endedAt = Date.parse('2026-03-01T12:00:07.250Z');
const place = { deliveryId: 'dlv_01K00000000000000000000ABC', attempt: 2, at: '2026-03-01T12:00:00.000Z' };
const attempt = { place, event: 'task.created' } as const;
const answered: Outcome = { httpStatus: 204, durationMs: 5, timedOut: false, responseBody: 'a private word' };
const noAnswer: Outcome = { ...answered, httpStatus: 0, error: 'No answer.' };

it('the record of an attempt has what the history shows, and nothing that the receiver said', () => {
  const record = {
    id: 'dlv_01KJMMA2G00000000000000ABC',
    deliveryId: place.deliveryId,
    attempt: 2,
    event: 'task.created',
    httpStatus: 204,
    durationMs: 5,
    deliveredAt: '2026-03-01T12:00:07.250Z',
    redelivery: true,
  };
  expect(attemptResultOf(attempt, answered, endedAt)).toEqual({ record, slow: false });
});

it.each<[string, Partial<Outcome>, boolean | undefined]>([
  ['slow when it did not answer in time', { ...noAnswer, timedOut: true, durationMs: 10_000 }, true],
  ['slow when the time was over sooner than the clock says', { timedOut: true, durationMs: 3 }, true],
  ['quick when it answered in 1,999 ms', { durationMs: 1_999 }, false],
  ['quick when it failed soon', { httpStatus: 500, error: 'It answered 500.', durationMs: 1_999 }, false],
  ['slow when it answered in 2,000 ms', { durationMs: 2_000 }, true],
  ['what it was when it refused at once', { ...noAnswer, durationMs: 1 }, undefined],
  ['slow when it broke off late', { ...noAnswer, durationMs: 5_000 }, true],
])('a receiver is %s', (_, outcome, slow) => {
  expect(attemptResultOf(attempt, { ...answered, ...outcome }, endedAt).slow).toBe(slow);
});
