import * as v from 'valibot';
import type { ErrorDetail } from '../errors.ts';
import type { ObjectSchema, Schema } from '../shapes.ts';
import { nearestName } from './nearest-name.ts';

/** The output of a schema for an input, or the errors of the input. */
export type Validated = { output: unknown; errors: ErrorDetail[] };

/** Validates an input and returns the output of the schema, or the first error of each field. */
export function validate(schema: Schema, input: unknown): Validated {
  const result = v.safeParse(schema, input, { abortPipeEarly: true });
  return { output: result.output, errors: (result.issues ?? []).map(errorOf) };
}

function errorOf(issue: v.BaseIssue<unknown>): ErrorDetail {
  const path = v.getDotPath(issue) ?? '';
  if (issue.kind === 'schema' && issue.input === undefined)
    return { path, code: 'required', message: `${path} is required` };
  if (issue.type === 'strict_object' && issue.expected === 'never')
    return { path, code: 'unknown_field', message: `${path} is not a known field` };
  const code = issue.kind === 'schema' && issue.type !== 'picklist' ? 'invalid_type' : 'invalid_value';
  return { path, code, message: `${path} ${issue.message}` };
}

/**
 * Returns an error for each name that is not in the schema. Names that every object inherits, such as `constructor`, are
 * unknown too.
 *
 * @param readOnly fields of the resource that requests cannot set: by their names, what to do instead
 */
export function unknownFieldErrors(
  names: readonly string[],
  known: ObjectSchema['entries'],
  kind: 'field' | 'query parameter',
  readOnly: Readonly<Record<string, string>> = {},
): ErrorDetail[] {
  return names
    .filter((name) => !Object.hasOwn(known, name))
    .map((name) => {
      if (Object.hasOwn(readOnly, name))
        return { path: name, code: 'read_only', message: `${name} cannot be set here; ${readOnly[name]}` };
      const similarName = nearestName(name, Object.keys(known));
      const hint = similarName ? ` (did you mean ${similarName}?)` : '';
      return {
        path: name,
        code: 'unknown_field',
        message: `${JSON.stringify(name.slice(0, 64))} is not a known ${kind}${hint}`,
      };
    });
}
