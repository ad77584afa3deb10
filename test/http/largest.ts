import { toJsonSchema } from '@valibot/to-json-schema';
import type { Schema } from '../../lib/contract/shapes.ts';

type Json = {
  type?: string;
  enum?: string[];
  format?: string;
  pattern?: string;
  maxLength?: number;
  maxItems?: number;
  items?: Json;
  properties?: Record<string, Json>;
  examples?: string[];
};

/** The character that takes the most bytes in a response: 6 as an escape of the body, and 7 where that is escaped. */
export const costliest = '\u0001';

/**
 * Returns the largest input that a schema takes: every field at its limit, texts made of the costliest character.
 * Fields whose schema has no type, such as a context, are left out.
 */
export function largest<Input>(schema: Schema): Input {
  return inputOf(toJsonSchema(schema, { typeMode: 'input', errorMode: 'ignore' }) as Json) as Input;
}

function inputOf(json: Json, at = 0): unknown {
  if (json.enum) return json.enum.toSorted((a, b) => b.length - a.length)[0];
  if (json.type === 'array')
    return (
      json.items?.enum ?? Array.from({ length: json.maxItems as number }, (_, nth) => inputOf(json.items as Json, nth))
    );
  if (json.type === 'object') {
    const fields = Object.entries(json.properties ?? {}).filter(([, field]) => field.type || field.enum);
    return Object.fromEntries(fields.map(([name, field]) => [name, inputOf(field)]));
  }
  return textOf(json, at);
}

/** The longest text of a schema; those of a list differ by their last characters. */
function textOf({ maxLength = 0, format, pattern = '', examples: [example = ''] = [] }: Json, at: number): string {
  const nth = String(at).padStart(2, '0');
  if (format === 'uri') return 'https://example.com/'.padEnd(maxLength, costliest);
  if (/\[0-9A-HJKMNP-TV-Z\]/.test(pattern)) return example.slice(0, -2) + nth;
  if (/proj_/.test(pattern)) return 'proj_'.padEnd(5 + 64, 'p');
  if (/a-z0-9/.test(pattern)) return 'a'.repeat(maxLength);
  return costliest.repeat(maxLength - nth.length) + nth;
}
