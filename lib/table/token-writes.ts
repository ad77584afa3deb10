import type { Organization } from '../contract/organization.ts';
import type { Table } from './client.ts';
import { keys } from './keys.ts';
import { getItem, queryItems } from './reads.ts';
import type { StoredToken } from './tokens.ts';
import { Conflict, retryOnConflict, transact, transactionLimit } from './transact.ts';
import type { Write } from './write.ts';

// Apart from `tokens.ts`, which every function has in its bundle: only the command line does this.

/** Stores a new token with the limit of its organization, and lists it there. */
export async function createToken(table: Table, token: StoredToken): Promise<void> {
  const { id, organization } = token;
  await retryOnConflict(table, async () => {
    const { requestsPerMinute } = (await getItem(table, keys.settings(organization))) ?? {};
    const Item = { ...keys.token(id), ...token, requestsPerMinute };
    await transact(table, [
      { Put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } },
      { Put: { Item: keys.organizationToken(organization, id) } },
      // Whoever sets the limit looks for tokens after that, and would not find this one.
      hasLimit(organization, requestsPerMinute as number | undefined),
    ]);
  });
}

/** Gives all tokens of an organization its limit of requests, or leaves it to the deployment again (`undefined`). */
export async function limitTokens(
  table: Table,
  organization: Organization,
  requestsPerMinute: number | undefined,
): Promise<void> {
  const rows = await Array.fromAsync(queryItems(table, { pk: keys.tokens(organization) }));
  for (let at = 0; at < rows.length; at += transactionLimit)
    await transact(
      table,
      rows.slice(at, at + transactionLimit).map(({ sk }) => limitWrite(sk as string, requestsPerMinute)),
    );
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
    onConditionFailed: () => new Conflict(),
  };
}
