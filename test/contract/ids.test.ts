import { describe, expect, it } from 'vitest';
import { timeOf, ulidFrom } from '../../lib/contract/ids.ts';
import { fc } from '../seeded.ts';

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Returns the number that a ULID writes to the base of 32. */
const numberOf = (ulid: string) => [...ulid].reduce((sum, letter) => sum * 32n + BigInt(alphabet.indexOf(letter)), 0n);

describe('a ULID', () => {
  it('is the 48 bits of its time, then the 80 bits of its bytes', () => {
    const times = fc.nat({ max: 2 ** 48 - 1 });
    const randomBytes = fc.uint8Array({ minLength: 10, maxLength: 10 });
    fc.assert(
      fc.property(times, randomBytes, (time, bytes) => {
        const ulid = ulidFrom(time, bytes);
        const expected = bytes.reduce((value, byte) => value * 256n + BigInt(byte), BigInt(time));
        expect(ulid).toHaveLength(26);
        expect(numberOf(ulid)).toBe(expected);
        expect(timeOf(ulid)).toBe(time);
      }),
    );
  });

  it('uses the first 10 bytes of more', () => {
    const bytes = Uint8Array.from({ length: 32 }, (_, at) => at * 8);
    expect(ulidFrom(0, bytes)).toBe(ulidFrom(0, bytes.slice(0, 10)));
  });

  it.each([Number.NaN, 0.5, Number.POSITIVE_INFINITY])('has no time %d', (time) => {
    expect(() => ulidFrom(time, new Uint8Array(10))).toThrow(RangeError);
  });
});
