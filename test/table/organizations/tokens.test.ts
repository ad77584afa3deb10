import { beforeAll, describe, expect, it } from 'vitest';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { Table } from '../../../lib/table/client.ts';
import { insertToken } from '../../../lib/table/organizations/token-writes.ts';
import {
  readStoredToken,
  readStoredTokens,
  revokeStoredToken,
  type StoredToken,
} from '../../../lib/table/organizations/tokens.ts';
import { createTestTable, errorOf } from '../tasks/test-table.ts';

let table: Table;
beforeAll(async () => {
  ({ table } = await createTestTable());
});

const token = (id: string, organization: string, createdAt: string, more: Partial<StoredToken> = {}): StoredToken => ({
  id,
  hash: `hash of ${id}`,
  organization: organization as Organization,
  scopes: ['tasks:read'],
  createdAt,
  ...more,
});

describe('a token', () => {
  it('is the same after it was stored', async () => {
    const kept = token('kept', 'kept', '2026-01-01T00:00:00.000Z', { expires: '2027-01-01T00:00:00.000Z' });
    await insertToken(table, kept);
    expect(await readStoredToken({ table }, 'kept')).toEqual(kept);
  });

  it('is listed with the tokens of its organization, the oldest first', async () => {
    const [late, early] = [token('a', 'listed', '2026-02-01'), token('b', 'listed', '2026-01-01')];
    for (const one of [late, early, token('c', 'listed-2', '2026-01-01')]) await insertToken(table, one);
    expect(await readStoredTokens({ table }, 'listed' as Organization)).toEqual([early, late]);
  });

  it('cannot be inserted again with the same id', async () => {
    const first = token('twice', 'twice', '2026-01-01');
    await insertToken(table, first);
    await expect(insertToken(table, { ...first, hash: 'another' })).rejects.toThrow();
    expect(await readStoredToken({ table }, 'twice')).toEqual(first);
  });
});

describe('a revoked token', () => {
  it('has the time of its first revocation', async () => {
    const revoked = token('revoked', 'revoked', '2026-01-01');
    await insertToken(table, revoked);
    await revokeStoredToken({ table }, 'revoked', '2026-03-01');
    await revokeStoredToken({ table }, 'revoked', '2026-04-01');
    expect(await readStoredToken({ table }, 'revoked')).toEqual({ ...revoked, revokedAt: '2026-03-01' });
    expect(await readStoredTokens({ table }, 'revoked' as Organization)).toEqual([
      { ...revoked, revokedAt: '2026-03-01' },
    ]);
  });

  it('must exist', async () => {
    expect((await errorOf(revokeStoredToken({ table }, 'unknown', '2026-03-01')))?.code).toBe('not_found');
    expect(await readStoredToken({ table }, 'unknown')).toBeUndefined();
  });
});
