import { createSystemAgents } from '../agents/agents.ts';
import type { Context } from '../context/context.ts';
import type { Scope } from '../contract/endpoint.ts';
import { timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { insertToken } from '../table/organizations/token-writes.ts';
import { hashSecret, mintToken, writeToken } from './token.ts';

/** The properties of a new access token. */
export type TokenRequest = {
  organization: Organization;
  /** What the token is for. */
  name?: string | undefined;
  /** Whether it is for a person, and not for a program. */
  person?: boolean | undefined;
  scopes: readonly Scope[];
  /** The time of expiry (ISO 8601). Without one, the token does not expire. */
  expires?: string;
};

/**
 * Creates an access token and returns its text, which is not stored anywhere. The first token creates the organization:
 * its system agents exist before the token does.
 */
export async function issueToken(
  context: Context,
  { organization, name, person, scopes, expires }: TokenRequest,
): Promise<string> {
  const createdAt = timestamp(context.clock());
  await createSystemAgents(context, organization);
  const token = mintToken();
  await insertToken(context.table, {
    id: token.id,
    ...(name && { name }),
    ...(person && { person }),
    hash: hashSecret(token.secret),
    organization,
    scopes: [...scopes],
    createdAt,
    ...(expires && { expires }),
  });
  return writeToken(token);
}
