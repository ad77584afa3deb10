import { fc } from '../seeded.ts';

/** The part of JSON Schema that bodies of requests use. */
type JsonSchema = {
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  type?: string;
  pattern?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
};

/** The longest generated texts and lists: the tests of the contract try the limits. */
const most = { letters: 50, items: 5 };

/**
 * Returns random values of a schema, `null` only where the schema is of `null` alone.
 *
 * @throws Error for a schema of an unknown kind
 */
export function valuesOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  const { type, items, properties } = schema;
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.filter((one) => one.type !== 'null').map(valuesOf));
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer') return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 1_000 });
  if (type === 'string') return textsOf(schema);
  if (type === 'array' && items)
    return fc.uniqueArray(valuesOf(items), {
      minLength: schema.minItems ?? 0,
      maxLength: Math.min(schema.maxItems ?? most.items, most.items),
      selector: (item) => JSON.stringify(item),
    });
  if (type === 'object' && properties)
    return fc
      .record(Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, valuesOf(inner)])), {
        requiredKeys: schema.required ?? [],
      })
      .filter((value) => Object.keys(value).length >= (schema.minProperties ?? 0));
  throw new Error(`There are no values of ${JSON.stringify(schema)}.`);
}

function textsOf({ pattern, format, minLength = 0, maxLength = most.letters }: JsonSchema): fc.Arbitrary<string> {
  if (format === 'uri') return fc.stringMatching(/^[a-z0-9]{1,20}$/).map((path) => `https://example.com/${path}`);
  if (format === 'date-time')
    return fc
      .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString());
  if (pattern?.startsWith('^'))
    return fc.stringMatching(new RegExp(pattern)).filter(({ length }) => length <= maxLength);
  const texts = fc.string({ minLength, maxLength: Math.min(maxLength, most.letters), unit: 'grapheme-ascii' });
  return pattern === undefined ? texts : texts.filter((text) => new RegExp(pattern).test(text));
}
