import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../lib/contract/endpoint.ts';
import { references } from '../../lib/contract/endpoints.ts';
import { detailCodes, type ErrorCode, errorStatus } from '../../lib/contract/errors.ts';
import { type Operation, routes } from '../../lib/contract/routes.ts';
import type { Schema } from '../../lib/contract/shapes.ts';
import { check, unknownFields } from '../../lib/http/faults.ts';
import { refusals } from '../../lib/openapi/error-reference.ts';

const rows = routes.map(([operation, row]) => ({ operation, row }));
const having = (part: keyof Endpoint) => rows.filter(({ row }) => row[part]);

const referenceOf = (operation: Operation): { description: string; body?: unknown; data?: unknown } =>
  references[operation]();

/** The schema of a row's data as a whole. */
const dataOf = (row: Endpoint): Schema => (row.paged ? v.array(row.data as Schema) : (row.data as Schema));

describe('the words of a row', () => {
  it.each(rows)('describe $operation in a sentence that is not its summary', ({ operation, row }) => {
    const { description } = referenceOf(operation);
    expect(description).toMatch(/^[A-Z].*\.$/s);
    expect(description).not.toBe(row.summary);
  });

  it.each(having('body'))('show a body that $operation takes', ({ operation, row }) => {
    const { body } = referenceOf(operation);
    const schema = row.body as NonNullable<Endpoint['body']>;
    expect(check(schema, body).faults).toEqual([]);
    expect(unknownFields(Object.keys(body as object), schema.entries, 'field')).toEqual([]);
  });

  it.each(having('data'))('show data that $operation answers', ({ operation, row }) => {
    const { data } = referenceOf(operation);
    // A schema leaves out the fields that it does not know.
    expect(v.parse(dataOf(row), data)).toEqual(data);
  });

  it.each(rows)('show no body and no data of $operation where it has none', ({ operation, row }) => {
    const example = referenceOf(operation);
    expect(['body' in example, 'data' in example]).toEqual([row.body !== undefined, row.data !== undefined]);
  });
});

describe('the words of a refusal', () => {
  it.each(Object.keys(errorStatus) as ErrorCode[])('says when %s is answered, and shows it', (code) => {
    const { when, message, details = [] } = refusals[code];
    expect(when).toMatch(/^[A-Z].*\.$/);
    expect(message).toMatch(/[.…]$/);
    for (const detail of details) expect(detailCodes).toContain(detail.code);
  });
});
