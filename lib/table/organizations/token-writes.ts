import type { Organization } from '../../contract/organization.ts';
import type { Table } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { getItem, readRange } from '../access/reads.ts';
import { Conflict, retryOnConflict, transact, transactionLimit } from '../access/transact.ts';
import type { Write } from '../access/write.ts';
import type { StoredToken } from './tokens.ts';

// Not in `tokens.ts`, which is in the bundle of every function. Only the command line creates tokens and sets limits.

/** Inserts a token with the limit of its organization, and its entry in the list of the organization. */
export async function insertToken(table: Table, token: StoredToken): Promise<void> {
  const { id, organization } = token;
  await retryOnConflict(table, async () => {
    const { requestsPerMinute } = (await getItem(table, keys.settings(organization))) ?? {};
    const Item = { ...keys.token(id), ...token, requestsPerMinute };
    await transact(table, [
      { Put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } },
      { Put: { Item: keys.organizationToken(organization, id) } },
      // A change of the limit writes it to the listed tokens only. It must not happen just before this transaction.
      limitCheck(organization, requestsPerMinute as number | undefined),
    ]);
  });
}

/** Sets the limit of requests of all tokens of an organization. `undefined` removes the limit. */
export async function updateTokenLimits(
  table: Table,
  organization: Organization,
  requestsPerMinute: number | undefined,
): Promise<void> {
  const rows = await readRange(table, { pk: keys.tokens(organization) });
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

function limitCheck(organization: Organization, requestsPerMinute: number | undefined): Write {
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
