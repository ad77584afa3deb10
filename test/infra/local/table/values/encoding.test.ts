import { NumberValue } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, it } from 'vitest';
import { decodeItem, encode, encodeItem } from '../../../../../infra/local/table/values/encoding.ts';
import { marshalledItem, nativeItem } from '../../../../../infra/local/table/values/native.ts';

const item = {
  ...{ text: 'ä🙂\u0000"', empty: '', on: true, nothing: null, number: -12.5 },
  ...{ list: [1, 'two', [{ three: 3 }], new Set(['a'])], map: { of: { maps: {} } } },
  ...{ strings: new Set(['a', 'b', '']), numbers: new Set([1, 0.5]), large: 9_007_199_254_740_993n },
  ...{ likeSet: { $S: ['a'] }, likeMap: { $m: { $n: '1' } }, notAlone: { $S: 1, $N: 2 }, other: { $x: 1 } },
};

describe('an encoded item', () => {
  it('is read as it was written, in both forms', () => {
    const encoded = encodeItem(item);
    expect(nativeItem(encoded)).toEqual(item);
    expect(unmarshall(marshalledItem(decodeItem(encoded)))).toEqual(item);
  });

  it('has names such as those of the prototype as usual attributes', () => {
    const odd = JSON.parse('{"__proto__": {"x": 1}, "constructor": "a", "hasOwnProperty": {"__proto__": [1]}}');
    const encoded = encodeItem({ ...odd, set: new Set(['x']) });
    const read = nativeItem(encoded);
    expect(Object.keys(read)).toEqual(['__proto__', 'constructor', 'hasOwnProperty', 'set']);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(JSON.stringify({ ...read, set: undefined })).toBe(JSON.stringify(odd));
  });

  it('is without undefined values and functions, as the document client sends it', () => {
    const { text } = encodeItem({ a: undefined, b: () => 1, list: [1, undefined, 2], map: { c: undefined } });
    expect(text).toBe('{"list":[1,2],"map":{}}');
  });

  it('has numbers in plain decimal digits in the form of the stream', () => {
    const numbers = { small: 1e-7, smaller: -1.25e-9, exact: new NumberValue('1E-20'), large: new NumberValue('1e30') };
    expect(marshalledItem(decodeItem(encodeItem(numbers)))).toEqual({
      small: { N: '0.0000001' },
      smaller: { N: '-0.00000000125' },
      exact: { N: '0.00000000000000000001' },
      large: { N: '1000000000000000000000000000000' },
    });
  });

  it.each<[string, unknown, number]>([
    ['text, in UTF-8', 'aé🙂', 7],
    ['true', true, 1],
    ['null', null, 1],
    ['an empty list', [], 3],
    ['a list', ['abc', true], 3 + 2 + 4],
    ['a map', { ab: 'c', d: null }, 3 + 2 + 3 + 2],
    ['a set of strings', new Set(['a', 'bc']), 3],
    ['a set of numbers', new Set([1, 1000]), 4],
  ])('has the size that DynamoDB documents for %s', (_, value, size) => expect(encode(value).size).toBe(size));

  it.each<[string, unknown, string]>([
    ['binary values', new Uint8Array([1]), 'does not support binary values'],
    ['a buffer', Buffer.from('a'), 'does not support binary values'],
    ['an empty set', new Set(), 'Pass a non-empty set'],
    ['a set of two types', new Set(['a', 1]), 'does not support sets of'],
    ['NaN', Number.NaN, 'Special numeric value NaN is not allowed'],
    ['a number above the safe integers', 2 ** 53, 'greater than Number.MAX_SAFE_INTEGER'],
    ['a date', new Date(0), 'Unsupported type passed'],
    ['an integer of more than 38 digits', 1n << 200n, 'significant digits'],
    [
      'more than 32 levels',
      Array.from({ length: 33 }).reduce((inner) => [inner], 1),
      'Nesting Levels have exceeded supported limits',
    ],
  ])('is rejected with %s', (_, value, message) => expect(() => encodeItem({ value })).toThrow(message));
});
