import { isDeepStrictEqual } from 'node:util';
import type { FieldChange, FieldValue } from '../../contract/tasks/history.ts';
import { codePoints } from '../../contract/texts/code-points.ts';
import { hashOf } from '../agents/agent-items.ts';

/** The longest text that an entry of a history has itself, in code points. */
const longestText = 200;

/** An object whose fields a history can show. */
type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns the changes of fields of an object, as a history shows them.
 *
 * @param before `undefined` for a new object: then all fields that are set have changed
 */
export function changesBetween(before: Fields | undefined, after: Fields, fields: readonly string[]): FieldChange[] {
  return fields
    .map((field) => ({ field, from: shownValue(before?.[field]), to: shownValue(after[field]) }))
    .filter(({ from, to }) => !isDeepStrictEqual(from, to));
}

/** Returns a value as a history shows it: a long text by its length and hash. */
function shownValue(value: unknown): FieldValue {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return null;
  if (typeof value !== 'string' || codePoints(value) <= longestText) return value as FieldValue;
  return { length: codePoints(value), hash: hashOf(value) };
}
