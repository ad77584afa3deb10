import { describe, expect, it } from 'vitest';
import { timeOf, ulidFrom } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import {
  firstUlid,
  justAfter,
  justBefore,
  lastPosition,
  lastPossiblePosition,
  lastUlid,
  lateEventsOf,
} from '../../../lib/table/events/positions.ts';
import { fc } from '../../seeded.ts';

const time = Date.parse('2026-03-01T12:00:00.000Z');
const bytes = fc.uint8Array({ minLength: 10, maxLength: 10 });
const ulids = fc.tuple(fc.integer({ min: 0, max: 2 ** 48 - 1 }), bytes).map(([at, rest]) => ulidFrom(at, rest));

describe('the positions of an item with late events', () => {
  const numbers = fc.integer({ min: 1, max: 1_000 });

  it('have the time of the item, ascend with the events, and end with its key', () => {
    fc.assert(
      fc.property(bytes, numbers, (random, number) => {
        const last = lastPosition(ulidFrom(time, random), number);
        const events = Array.from({ length: number }, (_, nth) => `event-${nth}`);
        const positions = lateEventsOf({ ...keys.lateEvents('org' as Organization, last), events });
        expect(positions.map(({ ulid }) => ulid)).toEqual(events);
        const own = positions.map(({ position }) => position);
        expect(new Set(own).size).toBe(number);
        expect(own.toSorted()).toEqual(own);
        expect(own.at(-1)).toBe(last);
        expect(own.every((position) => timeOf(position) === time && position.length === 26)).toBe(true);
      }),
      { numRuns: 20 },
    );
  });

  it('are not above the greatest position that an item of any of them can have', () => {
    fc.assert(
      fc.property(bytes, numbers, fc.nat(999), (random, number, nth) => {
        const ulid = ulidFrom(time, random);
        const one = lastPosition(ulid, Math.min(nth + 1, number));
        expect(lastPosition(ulid, number) <= lastPossiblePosition(one)).toBe(true);
      }),
    );
  });
});

it('the keys just before and just after a ULID are between it and every other one', () => {
  fc.assert(
    fc.property(ulids, ulids, (one, other) => {
      const [before, after] = [justBefore(one), justAfter(one)];
      expect(before < one && one < after).toBe(true);
      if (other < one) expect(other < before).toBe(true);
      if (other > one) expect(other > after).toBe(true);
    }),
  );
  const [nine, ten] = [firstUlid(9), firstUlid(10)];
  expect(justBefore(ten) > nine).toBe(true);
  expect(justBefore(firstUlid(32)) > lastUlid(31)).toBe(true);
});
