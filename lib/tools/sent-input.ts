import type { Endpoint } from '../contract/endpoint.ts';
import { endpoints } from '../contract/endpoints.ts';
import type { ErrorDetail } from '../contract/errors.ts';
import { lostNumbers } from '../contract/lost-numbers.ts';
import { queryEntries, validationFailed } from '../contract/requests/check.ts';
import type { Schema } from '../contract/shapes.ts';
import { type OperationId, toolOf } from './tool-definitions.ts';
import { clearing, isClearable } from './tool-schemas.ts';

type Input = Readonly<Record<string, unknown>>;

/**
 * Returns the input of a tool as models mean it: without optional arguments that are null, and without empty texts where no
 * text can be empty; with the value of JSON text where a list or an object belongs; and with `null` for each field that
 * `clear` names. Models fill in every argument of a schema, so null and an empty text do not clear a field.
 *
 * @returns the input, and a note for the model that names what was left out; `undefined` if nothing was
 * @throws `ApiError` `validation_failed` for an invalid `clear`
 */
export function readSentInput(operation: OperationId, sent: Input): { input: Input; note: string | undefined } {
  const { properties, required = [] } = toolOf(operation).inputSchema as {
    properties: Record<string, Record<string, unknown>>;
    required?: string[];
  };
  const row: Endpoint = endpoints[operation];
  const fields: Readonly<Record<string, Schema>> = row.body?.entries ?? {};
  const isLeftOut = (name: string, value: unknown) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!property || required.includes(name)) return false;
    if (value === null) return true;
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    return (
      value === '' && (isNeverEmpty(name, property) || Object.hasOwn(queryEntries(row), name) || isClearable(field))
    );
  };
  const entries = Object.entries(sent);
  const leftOut = entries.flatMap(([name, value]) => (isLeftOut(name, value) ? [name] : []));
  const kept = entries
    .filter(([name]) => !leftOut.includes(name))
    .map(([name, value]) => [name, Object.hasOwn(properties, name) ? parsed(value, properties[name]?.type) : value]);
  const input: Input = Object.fromEntries(kept);
  const clearable = Object.keys(fields).filter((name) => isClearable(fields[name]));
  const hint = clearable.length > 0 ? ` To clear a field, name it in ${clearing}.` : '';
  return {
    input: clearable.length > 0 ? withCleared(input, clearable) : input,
    note: leftOut.length > 0 ? `Left out, because null or empty: ${leftOut.join(', ')}.${hint}` : undefined,
  };
}

/** Returns whether an empty text is no value of an argument: an enumeration, an id, a name, a time, or no text at all. */
function isNeverEmpty(name: string, { type, enum: values, pattern, format }: Record<string, unknown>): boolean {
  return type !== 'string' || (values ?? pattern ?? format) !== undefined || name === 'model';
}

/** Returns the list or object of a JSON text, if one is wanted; any other value unchanged, so that its error names the type. */
function parsed(value: unknown, wanted: unknown): unknown {
  if (typeof value !== 'string' || (wanted !== 'array' && wanted !== 'object')) return value;
  try {
    const read: unknown = JSON.parse(value);
    const isWanted = typeof read === 'object' && read !== null && Array.isArray(read) === (wanted === 'array');
    // A number that JSON does not keep must not be changed silently.
    return isWanted && lostNumbers(value).length === 0 ? read : value;
  } catch {
    return value;
  }
}

/** Returns the input with `null` for the fields that its `clear` names, and without `clear`. */
function withCleared({ [clearing]: cleared = [], ...input }: Input, clearable: readonly string[]): Input {
  if (!Array.isArray(cleared))
    throw validationFailed([{ path: clearing, code: 'invalid_type', message: `${clearing} must be an array` }]);
  const errors = cleared.flatMap((name, at): ErrorDetail[] => {
    const path = `${clearing}.${at}`;
    if (!clearable.includes(name as string))
      return [{ path, code: 'invalid_value', message: `${path} must be one of ${clearable.join(', ')}` }];
    if (!Object.hasOwn(input, name)) return [];
    return [
      { path, code: 'invalid_value', message: `${path} names ${name}, which also has a value; send one of them` },
    ];
  });
  if (errors.length > 0) throw validationFailed(errors);
  return { ...input, ...Object.fromEntries(cleared.map((name) => [name, null])) };
}
