import type { Scope } from '../../contract/endpoint.ts';
import { ApiError } from '../../contract/errors.ts';
import type { Organization } from '../../contract/organization.ts';
import { ascending } from '../../contract/texts/order.ts';
import type { TableContext } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { getItem, getItems, readRange } from '../access/reads.ts';
import { transact } from '../access/transact.ts';
import type { Item } from '../access/write.ts';

/** An access token with the hash of its secret; the secret is not stored. Times are ISO 8601. */
export type StoredToken = {
  id: string;
  /** What it is for, in the words of the operator; absent in tokens without a name. */
  name?: string;
  /** Present if the token was created as one of a person. */
  person?: true;
  hash: string;
  organization: Organization;
  scopes: Scope[];
  createdAt: string;
  /** The token is not valid from this time on; absent for a token that does not expire. */
  expires?: string;
  revokedAt?: string;
  /** The limit of its organization, if that is not the limit of the deployment. It is read with the token. */
  requestsPerMinute?: number;
};

const tokenFrom = ({ pk, sk, ...token }: Item) => token as StoredToken;

/** Returns a token, strongly consistent; `undefined` if it does not exist. */
export async function readStoredToken({ table }: TableContext, id: string): Promise<StoredToken | undefined> {
  const item = await getItem(table, keys.token(id));
  return item && tokenFrom(item);
}

/** Returns the tokens of an organization with revoked ones, the oldest first. */
export async function readStoredTokens({ table }: TableContext, organization: Organization): Promise<StoredToken[]> {
  const rows = await readRange(table, { pk: keys.tokens(organization) });
  const tokens = await getItems(
    table,
    rows.map((row) => keys.token(row.sk as string)),
  );
  return tokens.map(tokenFrom).sort((a, b) => ascending(a.createdAt, b.createdAt));
}

/**
 * Revokes a token. Revoking it again changes nothing.
 *
 * @throws `ApiError` `not_found`
 */
export async function revokeStoredToken({ table }: TableContext, id: string, revokedAt: string): Promise<void> {
  await transact(table, [
    {
      Update: {
        Key: keys.token(id),
        UpdateExpression: 'SET revokedAt = if_not_exists(revokedAt, :now)',
        ConditionExpression: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':now': revokedAt },
      },
      onConditionFailed: () => new ApiError('not_found', 'There is no such token.'),
    },
  ]);
}
