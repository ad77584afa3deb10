import { expect, it } from 'vitest';
import type { Organization } from '../../../lib/contract/organization.ts';
import { listOrganizations } from '../../../lib/table/organizations/organizations.ts';
import { insertToken } from '../../../lib/table/organizations/token-writes.ts';
import { openService } from '../../service.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');
const at = (days: number) => new Date(now + days * 24 * 60 * 60 * 1000).toISOString();
const { table } = await openService(() => now);

it('organizations are sorted by name, with the time of their first token and the number of active tokens', async () => {
  const give = (
    organization: string,
    id: string,
    created: number,
    more: { expires?: string; revokedAt?: string } = {},
  ) =>
    insertToken(table, {
      ...{ id, organization: organization as Organization, hash: 'h', scopes: ['tasks:read'], createdAt: at(created) },
      ...more,
    });
  await give('many', 'second', -2);
  await give('many', 'first', -9, { revokedAt: at(-1) });
  await give('many', 'third', -1, { expires: at(1) });
  await give('gone', 'expired', -5, { expires: at(0) });
  const read: number[] = [];
  expect(await listOrganizations(table, now, (count) => void read.push(count))).toEqual([
    { organization: 'gone', since: at(-5), activeTokens: 0 },
    { organization: 'many', since: at(-9), activeTokens: 2 },
  ]);
  // Each token has two items: itself, and its entry in the list of its organization.
  expect(read.at(-1)).toBe(8);
});
