import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../lib/contract/endpoint.ts';
import { references } from '../../lib/contract/endpoints.ts';
import { detailCodes, type ErrorCode, errorStatus } from '../../lib/contract/errors.ts';
import { type Operation, routes } from '../../lib/contract/routes.ts';
import type { Schema } from '../../lib/contract/shapes.ts';
import { unknownFieldErrors, validate } from '../../lib/http/validate.ts';
import { errorReferences } from '../../lib/openapi/error-reference.ts';

const rows = routes.map(([operation, row]) => ({ operation, row }));
const having = (part: keyof Endpoint) => rows.filter(({ row }) => row[part]);

const referenceOf = (operation: Operation): { description: string; body?: unknown; data?: unknown } =>
  references[operation]();

/** Returns the schema of `data` in the response of an endpoint. */
const dataOf = (row: Endpoint): Schema => (row.paged ? v.array(row.data as Schema) : (row.data as Schema));

describe('the API reference of an endpoint', () => {
  it.each(rows)('describes $operation in sentences that are not its summary', ({ operation, row }) => {
    const { description } = referenceOf(operation);
    expect(description).toMatch(/^[A-Z].*\.$/s);
    expect(description).not.toBe(row.summary);
  });

  it.each(having('body'))('has an example of the body that $operation accepts', ({ operation, row }) => {
    const { body } = referenceOf(operation);
    const schema = row.body as NonNullable<Endpoint['body']>;
    expect(validate(schema, body).errors).toEqual([]);
    expect(unknownFieldErrors(Object.keys(body as object), schema.entries, 'field')).toEqual([]);
  });

  it.each(having('data'))('has an example of the data that $operation returns', ({ operation, row }) => {
    const { data } = referenceOf(operation);
    // A schema drops unknown fields.
    expect(v.parse(dataOf(row), data)).toEqual(data);
  });

  it.each(rows)('has no example of a body or of data that $operation does not have', ({ operation, row }) => {
    const example = referenceOf(operation);
    expect(['body' in example, 'data' in example]).toEqual([row.body !== undefined, row.data !== undefined]);
  });
});

describe('the API reference of an error', () => {
  it.each(Object.keys(errorStatus) as ErrorCode[])('says when %s occurs, and has an example', (code) => {
    const { when, message, details = [] } = errorReferences[code];
    expect(when).toMatch(/^[A-Z].*\.$/);
    expect(message).toMatch(/[.…]$/);
    for (const detail of details) expect(detailCodes).toContain(detail.code);
  });
});
