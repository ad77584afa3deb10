import { describe, expect, it } from 'vitest';
import type { Organization } from '../../../lib/contract/organization.ts';
import { listOrganizations } from '../../../lib/table/organizations/organizations.ts';
import {
  changeSettings,
  readOrganizationSettings,
  replaceDefaultModel,
} from '../../../lib/table/organizations/settings.ts';
import { insertToken } from '../../../lib/table/organizations/token-writes.ts';
import {
  readStoredToken,
  readStoredTokens,
  revokeStoredToken,
  type StoredToken,
} from '../../../lib/table/organizations/tokens.ts';
import { openService } from '../../service.ts';
import { dumpOf } from '../fixtures/table-dump.ts';
import { watchedTable } from '../fixtures/watched-table.ts';
import { createTestTable, errorOf, newOrganization } from '../tasks/test-table.ts';

const { table } = await createTestTable();
const now = Date.parse('2026-03-01T12:00:00.000Z');
const at = (days: number) => new Date(now + days * 24 * 60 * 60 * 1000).toISOString();

const token = (id: string, organization: string, createdAt = at(0), more: Partial<StoredToken> = {}): StoredToken => ({
  ...{ id, hash: `hash of ${id}`, organization: organization as Organization, scopes: ['tasks:read'], createdAt },
  ...more,
});

it('organizations are sorted by name, with the time of their first token and the number of active tokens', async () => {
  const { table: empty } = await openService();
  await insertToken(empty, token('second', 'many', at(-2)));
  await insertToken(empty, token('first', 'many', at(-9), { revokedAt: at(-1) }));
  await insertToken(empty, token('third', 'many', at(-1), { expires: at(1) }));
  await insertToken(empty, token('expired', 'gone', at(-5), { expires: at(0) }));
  const read: number[] = [];
  expect(await listOrganizations(empty, now, (count) => void read.push(count))).toEqual([
    { organization: 'gone', since: at(-5), activeTokens: 0 },
    { organization: 'many', since: at(-9), activeTokens: 2 },
  ]);
  // Each token has two items: itself, and its entry in the list of its organization.
  expect(read.at(-1)).toBe(8);
});

describe('a token', () => {
  it('is the same after it was stored, and cannot be inserted again with the same id', async () => {
    const kept = token('kept', 'kept', at(0), { expires: at(300) });
    await insertToken(table, kept);
    await expect(insertToken(table, { ...kept, hash: 'another' })).rejects.toThrow();
    expect(await readStoredToken({ table }, 'kept')).toEqual(kept);
  });

  it('is listed with the tokens of its organization, the oldest first', async () => {
    const [late, early] = [token('a', 'listed', at(31)), token('b', 'listed', at(0))];
    for (const one of [late, early, token('c', 'listed-2')]) await insertToken(table, one);
    expect(await readStoredTokens({ table }, 'listed' as Organization)).toEqual([early, late]);
  });

  it('that was revoked has the time of its first revocation', async () => {
    const revoked = token('revoked', 'revoked');
    await insertToken(table, revoked);
    for (const day of [60, 90]) await revokeStoredToken({ table }, 'revoked', at(day));
    const expected = { ...revoked, revokedAt: at(60) };
    expect(await readStoredToken({ table }, 'revoked')).toEqual(expected);
    expect(await readStoredTokens({ table }, 'revoked' as Organization)).toEqual([expected]);
  });

  it('must exist to be revoked', async () => {
    expect((await errorOf(revokeStoredToken({ table }, 'unknown', at(60))))?.code).toBe('not_found');
    expect(await readStoredToken({ table }, 'unknown')).toBeUndefined();
  });
});

it('settings have their last value, in their own organization only; those that a change does not name stay', async () => {
  const [one, other] = ['one', 'one-2'] as Organization[] as [Organization, Organization];
  await changeSettings({ table }, one, { defaultModel: 'first.model', requestsPerMinute: 5 });
  await changeSettings({ table }, one, { defaultModel: 'second.model', executionsPerMinute: 7 });
  const limits = { requestsPerMinute: 5, executionsPerMinute: 7 };
  expect(await readOrganizationSettings({ table }, one)).toEqual({ defaultModel: 'second.model', ...limits });
  await changeSettings({ table }, one, { defaultModel: undefined });
  expect(await readOrganizationSettings({ table }, one)).toEqual(limits);
  expect(await readOrganizationSettings({ table }, other)).toEqual({});
});

it('the default model is replaced only if it is the given one', async () => {
  const organization = newOrganization();
  const move = (from: string, to: string) => replaceDefaultModel({ table }, organization, { from, to });
  expect(await move('old.model', 'new.model')).toBe(false);
  expect(await readOrganizationSettings({ table }, organization)).toEqual({});
  await changeSettings({ table }, organization, { defaultModel: 'old.model' });
  expect(await move('another.model', 'new.model')).toBe(false);
  expect(await move('old.model', 'new.model')).toBe(true);
  expect(await readOrganizationSettings({ table }, organization)).toEqual({ defaultModel: 'new.model' });
});

it('removed settings leave no item', async () => {
  const organization = newOrganization();
  for (const defaultModel of [undefined, 'some.model', undefined])
    await changeSettings({ table }, organization, { defaultModel });
  expect(await dumpOf(table, organization)).toEqual({});
});

const limitsOf = async (organization: Organization) =>
  (await readStoredTokens({ table }, organization)).map(({ requestsPerMinute }) => requestsPerMinute);

it('a limit of requests is written to all tokens of the organization and to no others', async () => {
  const [one, other] = ['limited', 'limited-2'] as Organization[] as [Organization, Organization];
  const ids = Array.from({ length: 101 }, (_, nth) => `token-${nth}`);
  await Promise.all(ids.map((id) => insertToken(table, token(id, one))));
  await insertToken(table, token('of-other', other));
  await changeSettings({ table }, one, { requestsPerMinute: 5 });
  expect(await limitsOf(one)).toEqual(ids.map(() => 5));
  expect(await limitsOf(other)).toEqual([undefined]);
  await changeSettings({ table }, one, { requestsPerMinute: undefined });
  expect(await limitsOf(one)).toEqual(ids.map(() => undefined));
});

it('a limit of requests is written to a token that is inserted at the same time', async () => {
  const organization = newOrganization();
  const limit = { requestsPerMinute: 5 };
  // The limit changes after the settings were read, and before the token is stored.
  const slow = watchedTable(table, ({ nth }) => nth === 1 && changeSettings({ table }, organization, limit));
  await insertToken(slow.table, token('concurrent', organization));
  expect(await limitsOf(organization)).toEqual([5]);
});
