import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { bodyTime, rangeEnd } from '../../lib/contract/shapes.ts';

describe('a time in a body', () => {
  it.each([
    ['2026-03-01T12:00:00Z', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01T14:00:00+02:00', '2026-03-01T12:00:00.000Z'],
    ['2026-02-28T23:30:00.25-00:30', '2026-03-01T00:00:00.250Z'],
    ['2026-03-01t12:00:00z', '2026-03-01T12:00:00.000Z'],
    ['2026-03-01T12:00:00.123456789Z', '2026-03-01T12:00:00.123Z'],
  ])('is stored in UTC with milliseconds: %s', (sent, stored) => {
    expect(v.parse(bodyTime('A time.'), sent)).toBe(stored);
    expect(v.parse(rangeEnd('A time.'), sent)).toBe(Date.parse(stored));
  });

  it.each([
    ['2026-03-01T12:00:00 02:00', /write \+ as %2B in a URL$/],
    ['2026-03-01t12:00:00.5 02:00', /write \+ as %2B in a URL$/],
    ['2026-03-01T12:00:00', /such as 2026-11-14T09:30:00Z$/],
    ['2026-02-30T12:00:00 02:00', /such as 2026-11-14T09:30:00Z$/],
  ])('is no %j, whose error says how to send it', (sent, message) => {
    expect(v.safeParse(rangeEnd('A time.'), sent).issues?.[0].message).toMatch(message);
  });

  it.each(['2026-03-01', '2026-03-01T12:00:00', '2026-02-30T12:00:00Z', '0000-01-01T00:00:00+01:00', '', 7])(
    'is no %j',
    (sent) => {
      expect(v.is(bodyTime('A time.'), sent)).toBe(false);
    },
  );
});
