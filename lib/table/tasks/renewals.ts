import type { Claim } from '../../contract/claims.ts';
import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { tableSchema } from '../../deployment/table-schema.ts';
import type { TableContext } from '../client.ts';
import { keys } from '../keys.ts';
import { transact } from '../transact.ts';
import type { Write } from '../write.ts';
import { conflict } from './task-edges.ts';
import type { StoredTask } from './task-items.ts';

/**
 * Stores the renewal of a claim, and the idempotency record. It changes no version: a renewal is no change of the task.
 *
 * @throws `Conflict` if the task or its claim has changed since it was read
 */
export async function storeRenewal(
  { table }: TableContext,
  organization: Organization,
  task: StoredTask,
  claim: Claim,
  records: readonly Write[] = [],
): Promise<void> {
  await transact(table, [
    {
      Update: {
        Key: keys.task(organization, ulidOf(task.id)),
        UpdateExpression: 'SET claim = :claim, #dueAt = :dueAt',
        ConditionExpression: '#version = :version AND claim = :read',
        ExpressionAttributeNames: { '#version': 'version', '#dueAt': tableSchema.dueIndex.sortKey },
        ExpressionAttributeValues: {
          ':claim': claim,
          ':dueAt': claim.expiresAt,
          ':version': task.version,
          ':read': task.claim,
        },
      },
      onConditionFailed: conflict,
    },
    ...records,
  ]);
}
