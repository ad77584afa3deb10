import type { Scope } from '../contract/endpoint.ts';
import type { Organization } from '../contract/organization.ts';
import { Refusal } from '../contract/refusals.ts';
import type { Table } from './client.ts';
import { keys } from './keys.ts';
import { getItem, getItems, queryItems } from './reads.ts';
import { type Item, Stale, transact, transactionLimit, untilFresh, type Write } from './transact.ts';

/** A token as it is kept: the hash of its secret, never the secret. Times are ISO 8601. */
export type StoredToken = {
  id: string;
  hash: string;
  organization: Organization;
  scopes: Scope[];
  createdAt: string;
  /** From this moment on the token is refused; absent: never. */
  expires?: string;
  revokedAt?: string;
  /** The limit of its organization, if that has one of its own: the edge reads it with the token. */
  requestsPerMinute?: number;
};

const tokenFrom = ({ pk: _, sk: __, ...token }: Item) => token as StoredToken;

/** The tokens of a deployment. Only the command line writes them; the edge reads them (design §3). */
export function openTokens(table: Table) {
  return {
    /** The token of this id as it is now. */
    async get(id: string): Promise<StoredToken | undefined> {
      const item = await getItem(table, keys.token(id));
      return item && tokenFrom(item);
    },

    /** Stores a new token with the limit of its organization, and lists it there. */
    async create(token: StoredToken): Promise<void> {
      const { id, organization } = token;
      await untilFresh(table, async () => {
        const { requestsPerMinute } = (await getItem(table, keys.settings(organization))) ?? {};
        const Item = { ...keys.token(id), ...token, requestsPerMinute };
        await transact(table, [
          { Put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } },
          { Put: { Item: keys.organizationToken(organization, id) } },
          // Whoever sets the limit looks for tokens after that, and would not find this one.
          hasLimit(organization, requestsPerMinute as number | undefined),
        ]);
      });
    },

    /** Gives all tokens of an organization its limit of requests, or leaves it to the deployment again (`undefined`). */
    async limit(organization: Organization, requestsPerMinute: number | undefined): Promise<void> {
      const rows = await Array.fromAsync(queryItems(table, { pk: keys.tokens(organization) }));
      for (let at = 0; at < rows.length; at += transactionLimit)
        await transact(
          table,
          rows.slice(at, at + transactionLimit).map(({ sk }) => limitWrite(sk as string, requestsPerMinute)),
        );
    },

    /** An organization's tokens, revoked ones included, oldest first. */
    async list(organization: Organization): Promise<StoredToken[]> {
      const rows = await Array.fromAsync(queryItems(table, { pk: keys.tokens(organization) }));
      const tokens = await getItems(
        table,
        rows.map((row) => keys.token(row.sk as string)),
      );
      return tokens.map(tokenFrom).sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
    },

    /**
     * Revokes a token; revoking it again changes nothing.
     *
     * @throws `Refusal` `not_found`
     */
    async revoke(id: string, revokedAt: string): Promise<void> {
      await transact(table, [
        {
          Update: {
            Key: keys.token(id),
            UpdateExpression: 'SET revokedAt = if_not_exists(revokedAt, :now)',
            ConditionExpression: 'attribute_exists(pk)',
            ExpressionAttributeValues: { ':now': revokedAt },
          },
          otherwise: () => new Refusal('not_found', 'There is no such token.'),
        },
      ]);
    },
  };
}

export type Tokens = ReturnType<typeof openTokens>;

function hasLimit(organization: Organization, requestsPerMinute: number | undefined): Write {
  const Key = keys.settings(organization);
  return {
    ConditionCheck:
      requestsPerMinute === undefined
        ? { Key, ConditionExpression: 'attribute_not_exists(requestsPerMinute)' }
        : {
            Key,
            ConditionExpression: 'requestsPerMinute = :limit',
            ExpressionAttributeValues: { ':limit': requestsPerMinute },
          },
    otherwise: () => new Stale(),
  };
}

function limitWrite(id: string, requestsPerMinute: number | undefined): Write {
  return {
    Update: {
      Key: keys.token(id),
      UpdateExpression: requestsPerMinute === undefined ? 'REMOVE requestsPerMinute' : 'SET requestsPerMinute = :limit',
      ConditionExpression: 'attribute_exists(pk)',
      ...(requestsPerMinute !== undefined && { ExpressionAttributeValues: { ':limit': requestsPerMinute } }),
    },
  };
}
