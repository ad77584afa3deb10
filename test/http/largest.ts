import { toJsonSchema } from '@valibot/to-json-schema';
import type { Schema } from '../../lib/contract/shapes.ts';

type Json = {
  type?: string;
  enum?: string[];
  format?: string;
  pattern?: string;
  maxLength?: number;
  maximum?: number;
  maxItems?: number;
  items?: Json;
  properties?: Record<string, Json>;
  examples?: string[];
};

/** The character with the most bytes in a response: its escape has 6 bytes in the body, 7 when the body is escaped. */
export const costliest = '\u0001';

/** The same for titles, names and URLs, which have no control characters: its escape has 2 bytes in the body, 4 when the body is escaped. */
const costliestOfLabels = '"';
const labels = ['title', 'displayName', 'model', 'capabilities'];

/**
 * Returns the largest valid input of a schema: every field at its limit, with texts of the costliest character. It
 * omits fields without a type, such as a context.
 */
export function largest<Input>(schema: Schema): Input {
  return inputOf(toJsonSchema(schema, { typeMode: 'input', errorMode: 'ignore' }) as Json) as Input;
}

function inputOf(json: Json, name = '', at = 0): unknown {
  if (json.enum) return json.enum.toSorted((a, b) => b.length - a.length)[0];
  if (json.type === 'array')
    return (
      json.items?.enum ??
      Array.from({ length: json.maxItems as number }, (_, nth) => inputOf(json.items as Json, name, nth))
    );
  if (json.type === 'object') {
    const fields = Object.entries(json.properties ?? {}).filter(([, field]) => field.type || field.enum);
    return Object.fromEntries(fields.map(([name, field]) => [name, inputOf(field, name)]));
  }
  if (json.type === 'integer') return json.maximum;
  if (json.type === 'boolean') return false;
  return textOf(json, labels.includes(name) ? costliestOfLabels : costliest, at);
}

/** Returns the longest text of a schema. The texts of a list differ in their last characters. */
function textOf(
  { maxLength = 0, format, pattern = '', examples: [example = ''] = [] }: Json,
  character: string,
  at: number,
): string {
  const nth = String(at).padStart(2, '0');
  if (format === 'uri') return 'https://example.com/'.padEnd(maxLength, costliestOfLabels);
  if (/\[0-9A-HJKMNP-TV-Z\]/.test(pattern)) return example.slice(0, -2) + nth;
  if (/proj_/.test(pattern)) return 'proj_'.padEnd(5 + 64, 'p');
  if (/a-z0-9/.test(pattern)) return 'a'.repeat(maxLength);
  return character.repeat(maxLength - nth.length) + nth;
}
