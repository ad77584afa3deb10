import { describe, expect, it } from 'vitest';
import type { DeliveryRecord, Webhook } from '../../lib/client/operations.ts';
import { hoursOf, missedSince, sumOf } from '../../lib/console/screens/webhooks/webhook-state.ts';

const now = Date.parse('2026-03-02T12:30:00Z');

function attempt(deliveredAt: string, error?: string): DeliveryRecord {
  const id = `dlv_${deliveredAt}`;
  const common = { id, deliveryId: id, attempt: 1, event: 'task.created', httpStatus: 200, durationMs: 1 } as const;
  return { ...common, deliveredAt, redelivery: false, ...(error !== undefined && { error }) };
}

describe('the hours of the health of a webhook', () => {
  const attempts = [
    attempt('2026-03-02T12:01:00Z'),
    attempt('2026-03-02T12:00:00Z', 'down'),
    attempt('2026-03-02T10:59:00Z'),
  ];

  it('are the last 24, the current one last, with the attempts that ended in each', () => {
    const hours = hoursOf(attempts, true, now);
    expect(hours).toHaveLength(24);
    expect(hours[0]?.startsAt).toBe(Date.parse('2026-03-01T13:00:00Z'));
    expect(hours.slice(-3)).toEqual([
      { startsAt: Date.parse('2026-03-02T10:00:00Z'), delivered: 1, failed: 0 },
      { startsAt: Date.parse('2026-03-02T11:00:00Z'), delivered: 0, failed: 0 },
      { startsAt: Date.parse('2026-03-02T12:00:00Z'), delivered: 1, failed: 1 },
    ]);
  });

  it('are not known before the oldest attempt that was read, if there are earlier ones', () => {
    const known = hoursOf(attempts, false, now).map(({ delivered }) => delivered !== undefined);
    expect(known).toEqual([...Array<boolean>(21).fill(false), true, true, true]);
    expect(hoursOf(attempts, true, now).every(({ delivered }) => delivered !== undefined)).toBe(true);
  });

  it('are summed, and the sum says so if it has only the newest attempts', () => {
    expect(sumOf(hoursOf(attempts, true, now))).toBe('2 delivered, 1 failed');
    expect(sumOf(hoursOf(attempts, false, now))).toBe('Newest 100: 2 delivered, 1 failed');
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
