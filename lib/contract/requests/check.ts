import type { Endpoint } from '../endpoint.ts';
import type { ErrorDetail } from '../errors.ts';
import { ApiError } from '../errors.ts';
import { lostNumbers } from '../lost-numbers.ts';
import type { ObjectSchema } from '../shapes.ts';
import { unknownFieldErrors, type Validated, validate } from './validate.ts';

/** Returns the known parameters of the query of an endpoint, each with its schema. */
export function queryEntries(row: Endpoint): ObjectSchema['entries'] {
  return row.query?.entries ?? {};
}

/** Checks the query of a request; unknown parameters are errors. The values are texts, as in a URL. */
export function checkQuery(row: Endpoint, input: Readonly<Record<string, string>>): Validated {
  const known = queryEntries(row);
  const unknown = unknownFieldErrors(Object.keys(input), known, 'query parameter');
  const sent = Object.fromEntries(Object.entries(input).filter(([name]) => Object.hasOwn(known, name)));
  const checked = row.query ? validate(row.query, sent) : { output: undefined, errors: [] };
  return { output: checked.output, errors: [...unknown, ...checked.errors] };
}

/** Checks the parsed body of a request to an endpoint that has one. Unknown and read-only fields are errors. */
export function checkBody(row: Endpoint, json: unknown): Validated {
  const schema = row.body as ObjectSchema;
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    return {
      output: undefined,
      errors: [{ path: '', code: 'invalid_type', message: 'The body must be a JSON object' } as const],
    };
  // Fields that responses have and requests cannot set get an error of their own.
  const inResponse = row.resource ?? row.data;
  const names = inResponse && 'entries' in inResponse ? Object.keys(inResponse.entries as object) : [];
  const readOnly = { ...Object.fromEntries(names.map((name) => [name, 'leave it out'])), ...row.setElsewhere };
  const unknown = unknownFieldErrors(Object.keys(json), schema.entries, 'field', readOnly);
  const checked = validate(schema, json);
  return { output: checked.output, errors: [...unknown, ...checked.errors] };
}

/**
 * Returns an error for each number in the free-form members of a body that its parser has changed.
 *
 * @param json the text that has the body
 * @param at the path of the body in it
 */
export function lostNumberErrors({ freeForm }: Endpoint, json: string, at: readonly string[] = []): ErrorDetail[] {
  if (!freeForm) return [];
  const inBody = lostNumbers(json)
    .filter((path) => at.every((name, nth) => name === path[nth]))
    .map((path) => path.slice(at.length));
  return inBody
    .filter(([member = '']) => freeForm.includes(member))
    .map((names) => {
      const path = names.join('.');
      const message = `${path} is a number beyond ±9,007,199,254,740,991, which JSON does not keep; send it as a string`;
      return { path, code: 'invalid_value', message };
    });
}

/** Returns the error `validation_failed` for the problems of a request, of which there is at least one. */
export function validationFailed(errors: readonly ErrorDetail[]): ApiError {
  const [first] = errors as [ErrorDetail];
  const message = errors.length === 1 ? `${first.message}.` : `The request has ${errors.length} errors; see details.`;
  return new ApiError('validation_failed', message, errors);
}
