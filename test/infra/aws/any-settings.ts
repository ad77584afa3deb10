import type * as v from 'valibot';
import { settingSchemas } from '../../../infra/aws/settings.ts';
import { fc } from '../../seeded.ts';

/** The parts of a schema of valibot that the settings use. */
type Schema = {
  type: string;
  pipe?: readonly { type: string; requirement?: unknown }[];
  wrapped?: Schema;
  item?: Schema;
  key?: Schema;
  value?: Schema;
  entries?: Record<string, Schema>;
  options?: readonly unknown[];
};

const requirementOf = <Kind>(schema: Schema, type: string): Kind | undefined =>
  schema.pipe?.find((action) => action.type === type)?.requirement as Kind | undefined;

/** The bounds of a setting that is a whole number, or of each number of a list; `undefined` for other settings. */
export function boundsOf(given: v.GenericSchema): { least: number; most: number } | undefined {
  const schema = given as unknown as Schema;
  if (schema.wrapped) return boundsOf(schema.wrapped as unknown as v.GenericSchema);
  if (schema.type === 'array') return boundsOf(schema.item as unknown as v.GenericSchema);
  const [least, most] = [requirementOf<number>(schema, 'min_value'), requirementOf<number>(schema, 'max_value')];
  return least === undefined || most === undefined ? undefined : { least, most };
}

/** Texts of settings whose schema checks them by a function: most other texts are rejected. */
const texts = fc.oneof(
  fc.webUrl({ validSchemes: ['http', 'https'], withQueryParameters: true }).map((url) => url.replace(/\/$/, '')),
  fc.constantFrom('*', 'https://*', 'http://localhost:*', 'https://board.example', 'HTTPS://a.example', 'https://a,b'),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
);

/** Returns values of a schema: all bounds of numbers and lists, and texts that match its patterns. */
function anyOf(schema: Schema): fc.Arbitrary<unknown> {
  const { type, wrapped, item, key, value, entries, options } = schema;
  if (wrapped) return fc.option(anyOf(wrapped), { nil: undefined });
  const picked = schema.pipe?.find((action) => action.type === 'picklist') as Schema | undefined;
  if (picked) return anyOf(picked);
  if (type === 'union') return fc.oneof(...(options as Schema[]).map(anyOf));
  if (type === 'picklist') return fc.constantFrom(...(options as unknown[]));
  if (type === 'boolean') return fc.boolean();
  if (type === 'number') {
    const bounds = boundsOf(schema as unknown as v.GenericSchema);
    if (!bounds) throw new Error('A number has no bounds.');
    const { least: min, most: max } = bounds;
    return fc.oneof(
      fc.constantFrom(min, max),
      fc.maxSafeNat().map((number) => min + (number % (max - min + 1))),
    );
  }
  if (type === 'string') {
    if (schema.pipe?.some((action) => action.type === 'email')) return fc.constant('ops@example.com');
    const pattern = requirementOf<RegExp>(schema, 'regex');
    return pattern && !/\(\?!|\\p/.test(pattern.source) ? fc.stringMatching(pattern) : texts;
  }
  if (type === 'array') {
    const length = requirementOf<number>(schema, 'length');
    return fc.array(
      anyOf(item as Schema),
      length === undefined ? { maxLength: 5 } : { minLength: length, maxLength: length },
    );
  }
  if (type === 'record')
    return fc
      .array(fc.tuple(anyOf(key as Schema) as fc.Arbitrary<string>, anyOf(value as Schema)), { maxLength: 4 })
      .map((pairs) => Object.fromEntries(pairs));
  if (type === 'strict_object') return anyObject(entries as Record<string, Schema>);
  throw new Error(`Settings of type ${type} have no arbitrary.`);
}

function anyObject(entries: Record<string, Schema>): fc.Arbitrary<Record<string, unknown>> {
  const arbitraries = Object.fromEntries(Object.entries(entries).map(([name, schema]) => [name, anyOf(schema)]));
  return (
    fc
      .record(arbitraries, { requiredKeys: [] })
      // A settings file has no undefined values.
      .map((object) => JSON.parse(JSON.stringify(object)) as Record<string, unknown>)
  );
}

/** Returns contents of settings files with a value of one setting: within and at its bounds, or a text that may be rejected. */
export const anyValueOf = (name: string) => anyObject({ [name]: settingSchemas[name] as unknown as Schema });

/**
 * Returns contents of settings files that `isValid` accepts, with any combination of settings. A value that is not valid beside
 * the others is left out.
 */
export const anySettings = (isValid: (given: Record<string, unknown>) => boolean) =>
  anyObject(settingSchemas as unknown as Record<string, Schema>).map((object) => {
    const kept: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(object)) {
      kept[name] = value;
      if (!isValid(kept)) delete kept[name];
    }
    return kept;
  });
