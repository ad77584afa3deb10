import { expect, it } from 'vitest';
import { timestamp } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { issueToken } from '../../lib/http/issue-token.ts';
import { hashSecret, readToken } from '../../lib/http/token.ts';
import { readStoredTokens } from '../../lib/table/organizations/tokens.ts';
import { clockAt, openService } from '../service.ts';

it('a token is stored with its name, its scopes and its expiry, and without its secret', async () => {
  const now = Date.parse('2026-03-01T12:00:00.000Z');
  const { app } = await openService(clockAt(now));
  const organization = 'named' as Organization;
  const expires = timestamp(now + 1_000);
  const text = await issueToken(app, { organization, name: 'ci of shop', scopes: ['tasks:read'], expires });
  const { id, secret } = readToken(text) as { id: string; secret: string };
  expect(await readStoredTokens(app, organization)).toEqual([
    {
      ...{ id, name: 'ci of shop', hash: hashSecret(secret), organization, scopes: ['tasks:read'] },
      ...{ createdAt: timestamp(now), expires },
    },
  ]);
});
