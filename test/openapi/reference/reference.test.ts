import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../lib/contract/endpoint.ts';
import { routes } from '../../../lib/contract/endpoints.ts';
import { detailCodes, type RefusalCode, refusalStatus } from '../../../lib/contract/refusals.ts';
import type { Schema } from '../../../lib/contract/shapes.ts';
import { check, unknownFields } from '../../../lib/http/faults.ts';
import { reference } from '../../../lib/openapi/reference/reference.ts';
import { refusals } from '../../../lib/openapi/reference/refusals.ts';

const rows = routes.map(([operation, row]) => ({ operation, row }));
const having = (part: keyof Endpoint) => rows.filter(({ row }) => row[part]);

/** The schema of a row's data as a whole. */
const dataOf = (row: Endpoint): Schema => (row.paged ? v.array(row.data as Schema) : (row.data as Schema));

describe('the reference', () => {
  it.each(rows)('describes $operation in a sentence of its own', ({ operation, row }) => {
    const { description } = reference[operation];
    expect(description).toMatch(/^[A-Z].*\.$/s);
    expect(description).not.toBe(row.summary);
  });

  it.each(having('body'))('shows a body that $operation takes', ({ operation, row }) => {
    const { body } = reference[operation];
    const schema = row.body as NonNullable<Endpoint['body']>;
    expect(check(schema, body).faults).toEqual([]);
    expect(unknownFields(Object.keys(body as object), schema.entries, 'field')).toEqual([]);
  });

  it.each(having('data'))('shows data that $operation answers', ({ operation, row }) => {
    const { data } = reference[operation];
    // What a schema does not know it leaves out.
    expect(v.parse(dataOf(row), data)).toEqual(data);
  });

  it('shows no body and no data where a row has none', () => {
    for (const { operation, row } of rows) {
      expect([operation, 'body' in reference[operation]]).toEqual([operation, row.body !== undefined]);
      expect([operation, 'data' in reference[operation]]).toEqual([operation, row.data !== undefined]);
    }
  });

  it.each(Object.keys(refusalStatus) as RefusalCode[])('says when %s is answered, and shows it', (code) => {
    const { when, message, details = [] } = refusals[code];
    expect(when).toMatch(/^[A-Z].*\.$/);
    expect(message).toMatch(/[.…]$/);
    for (const detail of details) expect(detailCodes).toContain(detail.code);
  });
});
