import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { TableContext } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { Conflict, ignoreConflict, transact } from '../access/transact.ts';
import type { Item, Write } from '../access/write.ts';

/** What is known of a webhook whose deliveries fail, from the latest check of its history. */
export type Failing = {
  /** The end of the first failed attempt after the last success; ISO 8601. */
  since: string;
  /** The number of deliveries since then that failed permanently, up to `checkedUntil`. */
  exhausted: number;
  /** Up to which time the history was checked; ISO 8601. */
  checkedUntil: string;
  /** The end of the last successful attempt, if the check has found one; ISO 8601. */
  lastSuccessAt?: string;
};

/** Returns the attribute of a webhook's item with what is known of its failures. */
export function failingOf({ failing }: Item): { failing?: Failing } {
  return failing === undefined ? {} : { failing: failing as Failing };
}

/**
 * Stores the result of a check.
 *
 * @param before the result of the check before
 * @returns whether no other worker was first
 */
export async function storeFailing(
  { table }: TableContext,
  organization: Organization,
  webhookId: string,
  before: Failing | undefined,
  failing: Failing,
): Promise<boolean> {
  const write: Write = {
    Update: {
      Key: keys.webhook(organization, ulidOf(webhookId)),
      UpdateExpression: 'SET #failing = :failing',
      ConditionExpression: before
        ? '#failing.#until = :before'
        : 'attribute_exists(pk) AND attribute_not_exists(#failing)',
      ExpressionAttributeNames: { '#failing': 'failing', ...(before && { '#until': 'checkedUntil' }) },
      ExpressionAttributeValues: { ':failing': failing, ...(before && { ':before': before.checkedUntil }) },
      ReturnValues: 'UPDATED_NEW',
    },
    onConditionFailed: () => new Conflict(),
  };
  return (await transact(table, [write]).catch(ignoreConflict)) !== undefined;
}
