import { ulidOf } from '../contract/ids.ts';
import { tableSchema } from '../deployment/table-schema.ts';
import type { Ending, ExecutionHead, Progress, RunningExecution } from './execution-items.ts';
import { keys } from './keys.ts';
import type { OnConditionFailed, Write } from './write.ts';

/** The execution is not this worker's any more: another has it in hand, it has ended, or its agent was deleted. */
export class Lost extends Error {
  override name = 'Lost';
}

const { partitionKey, sortKey } = tableSchema.dueIndex;

const headKey = ({ organization, id }: Pick<ExecutionHead, 'organization' | 'id'>) =>
  keys.executionHead(organization, ulidOf(id));

/** The write that leases an execution, if it runs and is not leased, counts that, and notes when it was first done. */
export function claimWrite(
  execution: Pick<ExecutionHead, 'organization' | 'id'>,
  { claim, now, until }: { claim: string; now: string; until: string },
  onConditionFailed: OnConditionFailed,
): Write {
  return {
    Update: {
      Key: headKey(execution),
      UpdateExpression:
        'SET claim = :claim, leaseUntil = :until, #dueAt = :until, firstLeasedAt = if_not_exists(firstLeasedAt, :now) ADD claims :one',
      ConditionExpression: '#status = :running AND (attribute_not_exists(leaseUntil) OR leaseUntil <= :now)',
      ExpressionAttributeNames: { '#status': 'status', '#dueAt': sortKey },
      ExpressionAttributeValues: { ':claim': claim, ':until': until, ':now': now, ':running': 'running', ':one': 1 },
      ReturnValues: 'ALL_NEW',
    },
    onConditionFailed,
  };
}

/** A write to an execution that this worker has leased; `Lost` where it has not. */
export function heldWrite(
  execution: RunningExecution,
  { set, remove, add }: { set: string; remove?: string; add?: string },
  values: Record<string, unknown>,
  names: Record<string, string> = {},
): Write {
  return {
    Update: {
      Key: headKey(execution),
      UpdateExpression: `SET ${set}${remove ? ` REMOVE ${remove}` : ''}${add ? ` ADD ${add}` : ''}`,
      ConditionExpression: '#status = :running AND claim = :claim',
      ExpressionAttributeNames: { '#status': 'status', '#dueAt': sortKey, ...names },
      ExpressionAttributeValues: { ':running': 'running', ':claim': execution.claim, ...values },
    },
    onConditionFailed: () => new Lost(),
  };
}

/**
 * The write that gives a lease back before the execution has ended, and keeps what was done. No worker may lease it
 * before `until`; it does not count as lost.
 */
export function giveBackWrite(
  execution: RunningExecution,
  { until, dueAt, progress, outputParts }: GivenBack & { outputParts: number },
): Write {
  return heldWrite(
    execution,
    {
      set: `leaseUntil = :until, #dueAt = :dueAt, progress = :progress${outputParts > 0 ? ', outputParts = :parts' : ''}`,
      remove: 'claim',
      add: 'claims :minusOne',
    },
    {
      ':until': until,
      ':dueAt': dueAt,
      ':progress': progress,
      ':minusOne': -1,
      ...(outputParts > 0 && { ':parts': outputParts }),
    },
  );
}

/** How a lease is given back: from when on another worker may lease the execution, when the sweeper looks at it, and what was done. */
export type GivenBack = { until: string; dueAt: string; progress: Progress };

/** The write that ends an execution, and takes it out of the worker's hand and the sweeper's index. */
export function endWrite(execution: RunningExecution, ending: Ending & Pick<ExecutionHead, 'outputParts'>): Write {
  const fields = Object.entries(ending);
  return heldWrite(
    execution,
    {
      set: fields.map(([field]) => `#${field} = :new_${field}`).join(', '),
      remove: `claim, leaseUntil, #due, #dueAt${execution.progress ? ', progress' : ''}`,
    },
    Object.fromEntries(fields.map(([field, value]) => [`:new_${field}`, value])),
    { '#due': partitionKey, ...Object.fromEntries(fields.map(([field]) => [`#${field}`, field])) },
  );
}
