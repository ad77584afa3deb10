import { describe, expect, it } from 'vitest';
import { readAttemptLimits } from '../../lib/settings/attempt-limits.ts';
import { pollingOf } from '../../lib/settings/polling.ts';
import { slowMs } from '../../lib/webhooks/attempts/attempt-result.ts';

describe('the limits of a deployment', () => {
  it('are half of a batch, and half of the calls of slow deliveries, where they are not set', () => {
    expect(readAttemptLimits({})).toEqual({ normal: 5, slow: 25 });
  });

  it.each(['PROMPT_ATTEMPTS', 'SLOW_ATTEMPTS'])('are whole numbers: %s', (name) => {
    expect(Object.values(readAttemptLimits({ [name]: '7' }))).toContain(7);
    for (const text of ['0', '-1', '1.5', 'many', '10000'])
      expect(() => readAttemptLimits({ [name]: text })).toThrow(name);
  });
});

it('the invocations of each queue suffice for 50 events a second of a webhook until it is slow, and for others', () => {
  const containerStartMs = 500;
  const occupied = (50 * (slowMs + containerStartMs)) / 1_000;
  const { deliveries, firstRetry, secondRetry, thirdRetry } = pollingOf();
  for (const { concurrency } of [deliveries, firstRetry, secondRetry, thirdRetry])
    expect(concurrency).toBeGreaterThan(occupied);
});
