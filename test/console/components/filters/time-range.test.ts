import { describe, expect, it } from 'vitest';
import { timesOf } from '../../../../lib/console/components/filters/time-range.ts';

describe('the times of a range', () => {
  const now = Date.parse('2026-03-02T12:30:00Z');

  it('are those of a ready range before now', () => {
    expect(timesOf({ since: '1h' }, now)).toEqual({ since: '2026-03-02T11:30:00.000Z' });
    expect(timesOf({ since: '7d' }, now)).toEqual({ since: '2026-02-23T12:30:00.000Z' });
  });

  it('are its own times otherwise, and absent ends stay absent', () => {
    const own = { since: '2026-03-01T00:00:00Z', until: '2026-03-02T00:00:00Z' };
    expect(timesOf(own, now)).toEqual(own);
    expect(timesOf({}, now)).toEqual({});
  });
});
