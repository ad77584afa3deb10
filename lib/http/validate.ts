import * as v from 'valibot';
import type { ErrorDetail } from '../contract/errors.ts';
import type { ObjectSchema, Schema } from '../contract/shapes.ts';
import { nearestName } from './nearest-name.ts';

/** What a schema made of an input, or all that is wrong with it. */
export type Validated = { output: unknown; errors: ErrorDetail[] };

/** Parses an input and gathers all of its errors; one a field, the first that its schema finds. */
export function validate(schema: Schema, input: unknown): Validated {
  const result = v.safeParse(schema, input, { abortPipeEarly: true });
  return { output: result.output, errors: (result.issues ?? []).map(errorOf) };
}

function errorOf(issue: v.BaseIssue<unknown>): ErrorDetail {
  const path = v.getDotPath(issue) ?? '';
  if (issue.kind === 'schema' && issue.input === undefined)
    return { path, code: 'required', message: `${path} is required` };
  const code = issue.kind === 'schema' && issue.type !== 'picklist' ? 'invalid_type' : 'invalid_value';
  return { path, code, message: `${path} ${issue.message}` };
}

/**
 * The errors of fields that the schema does not know. Own keys only count: `__proto__` and `constructor` are as
 * unknown as any other.
 *
 * @param readOnly fields that the resource has but no request sets
 */
export function unknownFieldErrors(
  names: readonly string[],
  known: ObjectSchema['entries'],
  kind: 'field' | 'query parameter',
  readOnly: readonly string[] = [],
): ErrorDetail[] {
  return names
    .filter((name) => !Object.hasOwn(known, name))
    .map((name) => {
      if (readOnly.includes(name))
        return { path: name, code: 'read_only', message: `${name} cannot be set here; leave it out` };
      const meant = nearestName(name, Object.keys(known));
      const hint = meant ? `; did you mean ${meant}?` : '';
      return {
        path: name,
        code: 'unknown_field',
        message: `${JSON.stringify(name.slice(0, 64))} is not a known ${kind}${hint}`,
      };
    });
}
