import { expect, it } from 'vitest';
import { validate } from '../../lib/contract/requests/validate.ts';
import type { ObjectSchema, Schema } from '../../lib/contract/shapes.ts';

/** Values of a field: accepted unchanged, rejected, and of another type. */
export type FieldValues = { valid: unknown[]; invalid: unknown[]; ofOtherType?: unknown[] };

/** Returns the errors of an input, as `<path> <code>`. */
export const errorsOf = (schema: Schema, input: unknown) =>
  validate(schema, input).errors.map(({ path, code }) => `${path} ${code}`);

/** Defines a test of each field of a body or a query, whose other fields are `required`. */
export function testFields(schema: ObjectSchema, required: object, fields: Record<string, FieldValues>): void {
  it.each(Object.entries(fields))('accepts valid values of %s, and no others', (field, values) => {
    for (const value of values.valid) {
      const body = { ...required, [field]: value };
      expect(validate(schema, body)).toMatchObject({ output: body, errors: [] });
    }
    for (const [code, rejected] of [
      ['invalid_value', values.invalid],
      ['invalid_type', values.ofOtherType ?? []],
    ] as const)
      for (const value of rejected)
        expect([value, errorsOf(schema, { ...required, [field]: value })]).toEqual([value, [`${field} ${code}`]]);
  });
}

/** Returns characters of four bytes, two UTF-16 code units and one code point each. */
export const wide = (count: number) => '😀'.repeat(count);

/** Texts that show nothing: white space, control and format characters, fillers of scripts, blanks among symbols. */
const blanks = [
  ...['', ' \t\n\u00a0\u3000\ufeff', '\u200b', '\u2060\u00ad', '\u202e', '\u0007', '\u0085', '\u3164', '\ufe0f'],
  ...['\u2800', '\u{1d159}', '\u{e0041}', '\uffff', '\u034f \u180e'],
];

/**
 * Returns texts of up to `most` code points, without lone surrogates and U+0000. A text that shows nothing is valid if `blank`;
 * control characters other than tab and line breaks are not in a `label`.
 */
export function texts(most: number, { blank = false, label = false } = {}): FieldValues {
  const withControls = ['a\u0007', '\u001b[2Ja', 'a\u007f', 'a\u009b'];
  return {
    valid: [
      ...[
        wide(most),
        'x'.repeat(most),
        'e\u0301',
        '\ufeffx',
        '👩‍🔧 tab\there',
        'a\r\nb',
        'می‌خواهم',
        '\u{378}',
        '\ue000',
      ],
      ...(blank ? blanks : []),
      ...(label ? [] : withControls),
    ],
    invalid: [
      ...[wide(most + 1), `${wide(most)}x`, 'a\udc00', '\udc00\ud800', '\u0000', 'a\u0000b'],
      ...(blank ? [] : blanks),
      ...(label ? withControls : []),
    ],
    ofOtherType: [7, {}, ['x']],
  };
}

/** Returns the words of a list, and words that are not in it. */
export const words = (...list: string[]): FieldValues => ({
  valid: list,
  invalid: ['', list[0]?.toUpperCase(), `${list[0]} `, 'other', 'constructor', '__proto__'],
});

/** Names of agents, and texts that are none. */
export const agentNames: FieldValues = {
  valid: ['a', '0', '007', 'a-b-c-1', 'x'.repeat(64), 'constructor'],
  invalid: [
    ...['', 'Writer', '-writer', 'writer-', 'code--writer', 'code_writer', 'code writer', 'a/b', 'a#b'],
    ...['writer\n', 'größe', '１', '__proto__', 'x'.repeat(65)],
  ],
};

/** Returns ids with a prefix, and texts that are none: the last has more than 128 bits, the one before a wrong letter. */
export function ids(prefix: string): FieldValues {
  const id = `${prefix}_01K00000000000000000000000`;
  const other = `${prefix === 'ag' ? 'tk' : 'ag'}${id.slice(2)}`;
  const letters = [id.replace(/0$/, 'U'), id.replace('_01', '_81')];
  return {
    valid: [id],
    invalid: ['', `${prefix}_`, id.slice(3), id.toLowerCase(), `${id}0`, `${id} `, `${id}\n`, other, ...letters],
  };
}

/** Defines the tests of the page of a query: 20 items by default, 100 at most. */
export function testPage(query: ObjectSchema): void {
  it('has a limit of 20 by default and of 100 at most', () => {
    expect(validate(query, {}).output).toEqual({ limit: 20, offset: 0 });
    for (const limit of ['101', '9'.repeat(400)])
      expect(validate(query, { limit, offset: '9'.repeat(15) }).output).toEqual({
        limit: 100,
        offset: 999_999_999_999_999,
      });
  });

  const numbers = ['-1', '-0', '1e3', '5.0', '0x10', ' 5', '+5', '5\n', '٣', 'ten', 'NaN', 'Infinity'];
  testFields(
    query,
    {},
    {
      limit: { valid: [], invalid: ['0', '000', ...numbers] },
      offset: { valid: [], invalid: ['9'.repeat(16), ...numbers] },
    },
  );
}
