import { ApiError } from '../../contract/errors.ts';
import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { TableContext } from '../client.ts';
import { keys } from '../keys.ts';
import { createLease, deleteLease, leaseFree, leaseHeld } from '../lease.ts';
import { transact } from '../transact.ts';

/**
 * Leases the self-improvement of an agent: one pass at a time.
 *
 * @returns the id of the lease, for `endImprovementLease`; a pass that does not end expires with its lease
 * @throws `ApiError` `improvement_in_progress`
 */
export async function leaseImprovement(
  { table, clock }: TableContext & { clock: () => number },
  organization: Organization,
  agentId: string,
): Promise<string> {
  const now = clock();
  const lease = createLease(now);
  await transact(table, [
    {
      Put: {
        Item: { ...keys.improvement(organization, ulidOf(agentId)), ...lease },
        // The SDK's own second try finds the lease of the first.
        ConditionExpression: `${leaseFree()} OR ${leaseHeld}`,
        ExpressionAttributeValues: { ':now': now, ':claim': lease.claim },
      },
      onConditionFailed: inProgress,
    },
  ]);
  return lease.claim;
}

/** Ends the lease of a pass; does nothing if the lease has expired and another pass holds it. */
export function endImprovementLease(
  context: TableContext,
  organization: Organization,
  agentId: string,
  leaseId: string,
): Promise<void> {
  return deleteLease(context, keys.improvement(organization, ulidOf(agentId)), leaseId);
}

function inProgress(): ApiError {
  return new ApiError(
    'improvement_in_progress',
    'A self-improvement of this agent is in progress; retry when it has ended, within 30 seconds.',
  );
}
