import { tableSchema } from '../contract/deployment.ts';
import { ulidOf } from '../contract/ids.ts';
import type { Ending, ExecutionHead, RunningExecution } from './execution-items.ts';
import { keys } from './keys.ts';
import type { Otherwise, Write } from './transact.ts';

/** The execution is not this worker's any more: another has it in hand, it has ended, or its agent was deleted. */
export class Lost extends Error {
  override name = 'Lost';
}

const { partitionKey, sortKey } = tableSchema.dueIndex;

const headKey = ({ organization, id }: Pick<ExecutionHead, 'organization' | 'id'>) =>
  keys.executionHead(organization, ulidOf(id));

/** The write that takes an execution in hand, if it runs and nobody else holds it, and counts that. */
export function claimWrite(
  execution: Pick<ExecutionHead, 'organization' | 'id'>,
  { claim, now, until }: { claim: string; now: string; until: string },
  otherwise: Otherwise,
): Write {
  return {
    Update: {
      Key: headKey(execution),
      UpdateExpression: 'SET claim = :claim, leaseUntil = :until, #dueAt = :until ADD claims :one',
      ConditionExpression: '#status = :running AND (attribute_not_exists(leaseUntil) OR leaseUntil <= :now)',
      ExpressionAttributeNames: { '#status': 'status', '#dueAt': sortKey },
      ExpressionAttributeValues: { ':claim': claim, ':until': until, ':now': now, ':running': 'running', ':one': 1 },
      ReturnValues: 'ALL_NEW',
    },
    otherwise,
  };
}

/** A write to an execution that is in this worker's hand; `Lost` where it is not. */
export function heldWrite(
  execution: RunningExecution,
  { set, remove }: { set: string; remove?: string },
  values: Record<string, unknown>,
  names: Record<string, string> = {},
): Write {
  return {
    Update: {
      Key: headKey(execution),
      UpdateExpression: `SET ${set}${remove ? ` REMOVE ${remove}` : ''}`,
      ConditionExpression: '#status = :running AND claim = :claim',
      ExpressionAttributeNames: { '#status': 'status', '#dueAt': sortKey, ...names },
      ExpressionAttributeValues: { ':running': 'running', ':claim': execution.claim, ...values },
    },
    otherwise: () => new Lost(),
  };
}

/** The write that ends an execution, and takes it out of the worker's hand and the sweeper's index. */
export function endWrite(execution: RunningExecution, ending: Ending & Pick<ExecutionHead, 'outputParts'>): Write {
  const fields = Object.entries(ending);
  return heldWrite(
    execution,
    {
      set: fields.map(([field]) => `#${field} = :new_${field}`).join(', '),
      remove: 'claim, leaseUntil, #due, #dueAt',
    },
    Object.fromEntries(fields.map(([field, value]) => [`:new_${field}`, value])),
    { '#due': partitionKey, ...Object.fromEntries(fields.map(([field]) => [`#${field}`, field])) },
  );
}
