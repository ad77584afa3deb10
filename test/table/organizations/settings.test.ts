import { beforeAll, describe, expect, it } from 'vitest';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { Table } from '../../../lib/table/client.ts';
import { changeSettings, readSettings, replaceDefaultModel } from '../../../lib/table/organizations/settings.ts';
import { insertToken } from '../../../lib/table/organizations/token-writes.ts';
import { readStoredTokens, type StoredToken } from '../../../lib/table/organizations/tokens.ts';
import { dumpOf } from '../../table-dump.ts';
import { watchedTable } from '../fixtures/watched-table.ts';
import { createTestTable } from '../tasks/test-table.ts';

let table: Table;
beforeAll(async () => {
  ({ table } = await createTestTable());
});

it('settings have their last value, in their own organization only; those that a change does not name stay', async () => {
  const [one, other] = ['one', 'one-2'] as Organization[] as [Organization, Organization];
  await changeSettings({ table }, one, { defaultModel: 'first.model', requestsPerMinute: 5 });
  await changeSettings({ table }, one, { defaultModel: 'second.model', executionsPerMinute: 7 });
  const limits = { requestsPerMinute: 5, executionsPerMinute: 7 };
  expect(await readSettings({ table }, one)).toEqual({ defaultModel: 'second.model', ...limits });
  await changeSettings({ table }, one, { defaultModel: undefined });
  expect(await readSettings({ table }, one)).toEqual(limits);
  expect(await readSettings({ table }, other)).toEqual({});
});

it('the default model is replaced only if it is the given one', async () => {
  const organization = 'moved' as Organization;
  const move = (from: string, to: string) => replaceDefaultModel({ table }, organization, { from, to });
  expect(await move('old.model', 'new.model')).toBe(false);
  expect(await readSettings({ table }, organization)).toEqual({});
  await changeSettings({ table }, organization, { defaultModel: 'old.model' });
  expect(await move('another.model', 'new.model')).toBe(false);
  expect(await move('old.model', 'new.model')).toBe(true);
  expect(await readSettings({ table }, organization)).toEqual({ defaultModel: 'new.model' });
});

it('removed settings leave no item', async () => {
  const organization = 'unset' as Organization;
  await changeSettings({ table }, organization, { defaultModel: undefined });
  await changeSettings({ table }, organization, { defaultModel: 'some.model' });
  await changeSettings({ table }, organization, { defaultModel: undefined });
  expect(await dumpOf(table, organization)).toEqual({});
});

describe('a limit of requests', () => {
  const token = (organization: Organization, id: string): StoredToken => ({
    ...{ id, organization, hash: 'h', scopes: ['tasks:read'], createdAt: '2026-03-01T12:00:00.000Z' },
  });
  const limitsOf = async (organization: Organization) =>
    (await readStoredTokens({ table }, organization)).map(({ requestsPerMinute }) => requestsPerMinute);

  it('is written to all tokens of the organization and to no others', async () => {
    const [one, other] = ['limited', 'limited-2'] as Organization[] as [Organization, Organization];
    const ids = Array.from({ length: 101 }, (_, nth) => `token-${nth}`);
    await Promise.all(ids.map((id) => insertToken(table, token(one, id))));
    await insertToken(table, token(other, 'of-other'));
    await changeSettings({ table }, one, { requestsPerMinute: 5 });
    expect(await limitsOf(one)).toEqual(ids.map(() => 5));
    expect(await limitsOf(other)).toEqual([undefined]);
    await changeSettings({ table }, one, { requestsPerMinute: undefined });
    expect(await limitsOf(one)).toEqual(ids.map(() => undefined));
  });

  it('is written to a token that is inserted at the same time', async () => {
    const organization = 'concurrent' as Organization;
    const limit = { requestsPerMinute: 5 };
    // The limit changes after the settings were read, and before the token is stored.
    const slow = watchedTable(table, ({ nth }) => nth === 1 && changeSettings({ table }, organization, limit));
    await insertToken(slow.table, token(organization, 'concurrent'));
    expect(await limitsOf(organization)).toEqual([5]);
  });
});
