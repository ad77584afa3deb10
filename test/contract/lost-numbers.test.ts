import { toJsonSchema } from '@valibot/to-json-schema';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../lib/contract/endpoint.ts';
import { lostNumbers } from '../../lib/contract/lost-numbers.ts';
import { routes } from '../../lib/contract/routes.ts';
import { fc } from '../seeded.ts';

describe('a number that JSON.parse changes', () => {
  it.each([
    '9007199254740992',
    '-9007199254740992',
    '12345678901234567890',
    '1e999',
    '-1E+400',
    '0.1e310',
    '1'.repeat(400),
  ])('is found: %s', (number) => {
    expect(lostNumbers(`{"a":{"b":[0,${number}]}}`)).toEqual([['a', 'b', '1']]);
    expect(lostNumbers(number)).toEqual([[]]);
  });

  it.each([
    ...['9007199254740991', '-9007199254740991', '0', '-0', '1.0', '1e3', '1e21', '1E300', '1e-999'],
    ...['0.1000000000000000055', '9007199254740993.0', '9007199254740993e0', '"9007199254740993"', '"1e999"', 'true'],
  ])('is not %s', (other) => {
    expect(lostNumbers(`{"a":[${other}]}`)).toEqual([]);
  });

  it('is found wherever whole numbers are not safe', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), (whole) => {
        const isSafe = whole >= BigInt(Number.MIN_SAFE_INTEGER) && whole <= BigInt(Number.MAX_SAFE_INTEGER);
        expect(lostNumbers(`[${whole}]`)).toEqual(isSafe ? [] : [['0']]);
      }),
    );
  });

  it('is not sought deeper than any valid member, so that any depth can be read', () => {
    for (const depth of [100, 100_000])
      expect(lostNumbers(`${'['.repeat(depth)}1e999${']'.repeat(depth)}`)).toEqual([]);
    expect(lostNumbers(`{"__proto__":1e999,"a":${'['.repeat(100)}1e999${']'.repeat(100)}}`)).toEqual([['__proto__']]);
  });
});

it('each member of a body that can have any JSON is declared as free-form', () => {
  for (const [, row] of routes as readonly (readonly [string, Endpoint])[]) {
    if (!row.body) continue;
    const { properties = {} } = toJsonSchema(row.body, { typeMode: 'input', errorMode: 'ignore' });
    const free = Object.entries(properties).filter(
      ([, one]) =>
        typeof one === 'object' &&
        (one.type === undefined || one.type === 'object') &&
        !one.properties &&
        !one.enum &&
        !one.anyOf,
    );
    expect(free.map(([name]) => name)).toEqual(row.freeForm ?? []);
  }
});
