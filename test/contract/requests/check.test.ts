import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../lib/contract/endpoint.ts';
import { endpoints } from '../../../lib/contract/endpoints.ts';
import { checkBody, checkQuery, queryEntries } from '../../../lib/contract/requests/check.ts';

/** Values of all types of JSON, alone and in lists and objects. */
const values = [null, true, 0, 1.5, -1, 1e20, '', 'x', [], [null], [[]], [{}], ['x', 'x'], {}, { a: 1 }];
const members = values.flatMap((value) => [value, { projectId: value }, { assignedAgent: value }]);

/** The texts of valibot for a rule without a message of its own. */
const textOfLibrary = /Invalid|Expected|received/;

describe.each(Object.entries(endpoints as Record<string, Endpoint>))('the errors of a request to %s', (_, row) => {
  it('have a message of the service for each wrong value', () => {
    const inBody = Object.keys(row.body?.entries ?? {}).flatMap((name) =>
      members.flatMap((value) => checkBody(row, { [name]: value }).errors),
    );
    const inQuery = Object.keys(queryEntries(row)).flatMap((name) =>
      ['x', '-1', '1e3', '0x1', ' ', 'a,,b'].flatMap((value) => checkQuery(row, { [name]: value }).errors),
    );
    expect([...inBody, ...inQuery].map(({ message }) => message).filter((text) => textOfLibrary.test(text))).toEqual(
      [],
    );
  });
});
