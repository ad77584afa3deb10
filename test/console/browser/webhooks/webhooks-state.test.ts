import { describe, expect, it } from 'vitest';
import type { AttemptHour, Webhook } from '../../../../lib/client/operations.ts';
import { hoursOf, missedSince, sumOf } from '../../../../lib/console/screens/webhooks/webhook-state.ts';

const now = Date.parse('2026-03-02T12:30:00Z');
const hourMs = 3_600_000;

/** Returns the last hours as the service returns them, the current hour last. */
function lastHours(number: number): AttemptHour[] {
  const none = { status2xx: 0, status3xx: 0, status4xx: 0, status5xx: 0, noResponse: 0 };
  const current = Date.parse('2026-03-02T12:00:00Z');
  return Array.from({ length: number }, (_, at) => ({
    startsAt: new Date(current - (number - 1 - at) * hourMs).toISOString(),
    ...none,
    ...(at === number - 1 && { status2xx: 500, status5xx: 2, noResponse: 1 }),
    ...(at === number - 3 && { status2xx: 1000 }),
  }));
}

describe('the hours of the health of a webhook', () => {
  it('are the last 24, the current one last, with the attempts of each', () => {
    const hours = hoursOf(lastHours(24), now);
    expect(hours).toHaveLength(24);
    expect(hours[0]?.startsAt).toBe(Date.parse('2026-03-01T13:00:00Z'));
    expect(hours.slice(-3)).toEqual([
      { startsAt: Date.parse('2026-03-02T10:00:00Z'), delivered: 1000, failed: 0, failures: '' },
      { startsAt: Date.parse('2026-03-02T11:00:00Z'), delivered: 0, failed: 0, failures: '' },
      {
        startsAt: Date.parse('2026-03-02T12:00:00Z'),
        delivered: 500,
        failed: 3,
        failures: '2 × 5xx, 1 × no response',
      },
    ]);
    expect(sumOf(hours)).toBe('1,500 delivered, 3 failed');
  });

  it('are not known before the first one that the service knows, and their sum says so', () => {
    const hours = hoursOf(lastHours(2), now);
    expect(hours.map(({ startsAt }) => startsAt)).toEqual(hoursOf(lastHours(24), now).map(({ startsAt }) => startsAt));
    expect(hours.map(({ delivered }) => delivered !== undefined)).toEqual([
      ...Array<boolean>(22).fill(false),
      true,
      true,
    ]);
    expect(sumOf(hours)).toBe('Last 2 h: 500 delivered, 3 failed');
    const none = hoursOf([], now);
    expect(none.map(({ startsAt }) => startsAt)).toEqual(hours.map(({ startsAt }) => startsAt));
    expect(sumOf(none)).toBe('Not known yet');
  });
});

describe('the time since when a webhook may have missed events', () => {
  const webhook: Webhook = {
    id: 'wh_1',
    url: 'https://a',
    events: [],
    signed: true,
    active: true,
    createdAt: '2026-03-01T00:00:00Z',
  };
  const [failingSince, disabledAt] = ['2026-03-02T12:00:00.000Z', '2026-03-07T12:00:00.000Z'];

  it('is before its first failed attempt, or before the service paused it if no attempt is known', () => {
    expect(missedSince({ ...webhook, failingSince })).toBe('2026-03-02T11:55:00.000Z');
    expect(missedSince({ ...webhook, active: false, disabledAt, failingSince })).toBe('2026-03-02T11:55:00.000Z');
    expect(missedSince({ ...webhook, active: false, disabledAt })).toBe('2026-03-07T11:55:00.000Z');
  });

  it('is absent if its deliveries succeed, and if a caller has paused it', () => {
    expect(missedSince(webhook)).toBeUndefined();
    expect(missedSince({ ...webhook, active: false, failingSince })).toBeUndefined();
  });
});
