import { describe, expect, it } from 'vitest';
import {
  addNumbers,
  compareNumbers,
  negated,
  parseNumber,
  sizeOfNumber,
} from '../../../../../infra/local/table/values/numbers.ts';

const sum = (a: string, b: string) => String(addNumbers(parseNumber(a), parseNumber(b)));

describe('a number of the table', () => {
  it.each([
    ['0.1', '0.2', '0.3'],
    ['9007199254740991', '1', '9007199254740992'],
    ['9007199254740993', '-1', '9007199254740992'],
    ['1e30', '1', '1000000000000000000000000000001'],
    ['1E-20', '-1e-20', '0'],
    ['0.12345678901234567890123456789', '1', '1.12345678901234567890123456789'],
    ['-0.5', '0.5', '0'],
  ])('is added exactly: %s + %s', (a, b, expected) => expect(sum(a, b)).toBe(expected));

  it('has one form, however it is written', () => {
    const same = ['100', '1e2', '+100.0', '0100', '1000e-1'].map(parseNumber);
    expect(new Set(same)).toEqual(new Set([100]));
    expect([parseNumber('-0'), Object.is(parseNumber('-0'), -0)]).toEqual([0, false]);
    expect(parseNumber('9007199254740993')).toBe(9007199254740993n);
  });

  it('is compared exactly', () => {
    const ascending = [
      '-1e30',
      '-1',
      '0',
      '1E-20',
      '0.12345678901234567890123456789',
      '0.2',
      '9007199254740993',
      '1e30',
    ];
    const numbers = ascending.map(parseNumber);
    for (const [at, a] of numbers.entries())
      for (const [other, b] of numbers.entries()) expect(Math.sign(compareNumbers(a, b))).toBe(Math.sign(at - other));
    expect(String(negated(parseNumber('0.12345678901234567890123456789')))).toBe('-0.12345678901234567890123456789');
  });

  it.each([
    ['1'.repeat(39), '38 significant digits'],
    ['1e126', 'overflow'],
    ['1e-131', 'underflow'],
    ['one', 'numeric value'],
    ['', 'numeric value'],
  ])('is rejected beyond the limits of DynamoDB: %s', (text, message) =>
    expect(() => parseNumber(text)).toThrow(message),
  );

  it('is at most as precise as DynamoDB after an addition, too', () =>
    expect(() => sum('1e37', '1e-37')).toThrow('38 significant digits'));

  it.each([
    ['0', 1],
    ['0.00', 1],
    ['7', 2],
    ['42', 2],
    ['123', 3],
    ['1000000', 2],
    ['-5', 3],
    ['0.25', 2],
    ['1e-100', 2],
  ])('has a byte for two digits, one more, and one for a sign: %s', (text, bytes) =>
    expect(sizeOfNumber(parseNumber(text))).toBe(bytes),
  );
});
