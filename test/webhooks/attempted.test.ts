import { describe, expect, it } from 'vitest';
import { attemptedOf } from '../../lib/webhooks/attempted.ts';
import type { Outcome } from '../../lib/webhooks/sender.ts';

const endedAt = Date.parse('2026-03-01T12:00:07.250Z');
const attempt = {
  id: 'dlv_01K00000000000000000000001',
  deliveryId: 'dlv_01K00000000000000000000000',
  attempt: 2,
  event: 'task.created',
} as const;
const answered: Outcome = { httpStatus: 204, durationMs: 5, timedOut: false, responseBody: 'a private word' };
const noAnswer: Outcome = { ...answered, httpStatus: 0, error: 'No answer.' };

describe('the record of an attempt', () => {
  it('has what the history shows, and nothing that the receiver said', () => {
    expect(attemptedOf(attempt, { ...answered, durationMs: 1234 }, endedAt)).toEqual({
      record: {
        ...attempt,
        httpStatus: 204,
        durationMs: 1234,
        deliveredAt: '2026-03-01T12:00:07.250Z',
        redelivery: true,
      },
      endedAt,
    });
  });

  it('has the error of a failure', () => {
    expect(attemptedOf(attempt, noAnswer, endedAt).record).toMatchObject({ httpStatus: 0, error: 'No answer.' });
  });

  it.each([
    [1, false],
    [2, true],
    [4, true],
  ])('of attempt %i says of a redelivery: %s', (number, redelivery) => {
    expect(attemptedOf({ ...attempt, attempt: number }, answered, endedAt).record.redelivery).toBe(redelivery);
  });
});
