import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { Claim } from '../../contract/tasks/claims.ts';
import { tableSchema } from '../../names/table-schema.ts';
import type { TableContext } from '../access/client.ts';
import { authorship, noAuthorship } from '../access/current-request.ts';
import { keys } from '../access/keys.ts';
import { updateOf } from '../access/patch.ts';
import { transact } from '../access/transact.ts';
import type { Write } from '../access/write.ts';
import { conflict } from './task-edges.ts';
import type { StoredTask } from './task-items.ts';

/**
 * Stores the renewal of a claim, and the idempotency record. It changes no version: a renewal is no change of the task.
 *
 * @param renewedAt the time of the renewal; ISO 8601
 * @throws `Conflict` if the task or its claim has changed since it was read
 */
export async function storeRenewal(
  { table }: TableContext,
  organization: Organization,
  task: StoredTask,
  claim: Claim,
  renewedAt: string,
  records: readonly Write[] = [],
): Promise<void> {
  const { sortKey } = tableSchema.dueIndex;
  const update = updateOf({ claim, [sortKey]: claim.expiresAt, renewedAt, ...noAuthorship, ...authorship() });
  await transact(table, [
    {
      Update: {
        Key: keys.task(organization, ulidOf(task.id)),
        ...update,
        ConditionExpression: '#version = :version AND #claim = :read',
        ExpressionAttributeNames: { '#version': 'version', ...update.ExpressionAttributeNames },
        ExpressionAttributeValues: {
          ...update.ExpressionAttributeValues,
          ':version': task.version,
          ':read': task.claim,
        },
      },
      onConditionFailed: conflict,
    },
    ...records,
  ]);
}
