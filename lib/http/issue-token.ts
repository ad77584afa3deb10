import { createSystemAgents } from '../agents/agents.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../contract/endpoint.ts';
import { timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { insertToken } from '../table/token-writes.ts';
import { hashSecret, mintToken, writeToken } from './token.ts';

/** What a new token is for. */
export type TokenRequest = {
  organization: Organization;
  scopes: readonly Scope[];
  /** The moment from which it is refused, ISO 8601; without one it never expires. */
  expires?: string;
};

/**
 * Makes a token and, with its first, its organization: the system agents are there before the token is. The text is
 * returned this once and kept nowhere.
 */
export async function issueToken(context: Context, { organization, scopes, expires }: TokenRequest): Promise<string> {
  const createdAt = timestamp(context.clock());
  await createSystemAgents(context, organization);
  const token = mintToken();
  await insertToken(context.table, {
    id: token.id,
    hash: hashSecret(token.secret),
    organization,
    scopes: [...scopes],
    createdAt,
    ...(expires && { expires }),
  });
  return writeToken(token);
}
