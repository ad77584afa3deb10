import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import { tableSchema } from '../../names/table-schema.ts';
import { authorship } from '../access/current-request.ts';
import { keys } from '../access/keys.ts';
import { Conflict } from '../access/transact.ts';
import type { OnConditionFailed, Write } from '../access/write.ts';
import { leaseFree, leaseHeld, leaseTimestamps } from '../lease.ts';
import { graceMs } from '../lists/due.ts';
import { type Ending, type ExecutionHead, isFormer, type Progress, type RunningExecution } from './execution-items.ts';
import { receivedItem } from './received.ts';

/** The worker has lost its lease: another worker holds it, the execution has ended, or its agent was deleted. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

/**
 * The agent of the execution has lost a right since the worker read it: it was deleted, deactivated, or a capability was
 * taken from it. The worker still holds the lease. It reads the execution and its agent again (`readAgain`).
 */
export class AgentChanged extends Error {
  override name = 'AgentChanged';
}

const { partitionKey, sortKey } = tableSchema.dueIndex;

const headKey = ({ organization, id }: Pick<ExecutionHead, 'organization' | 'id'>) =>
  keys.executionHead(organization, ulidOf(id));

/**
 * Returns the write that leases an execution, if it is running and not leased. It counts the lease, and records the time
 * of the first one. The lease of an execution that has just started ends before it is due, so the index is not written.
 */
export function leaseWrite(
  execution: Pick<ExecutionHead, 'organization' | 'id'>,
  { leaseId, now, until }: { leaseId: string; now: string; until: string },
  onConditionFailed: OnConditionFailed,
): Write {
  const startedAt = timeOf(ulidOf(execution.id));
  const isDueLater = timestamp(startedAt) <= now && until <= timestamp(startedAt + graceMs);
  const due = isDueLater ? '' : ' #dueAt = :until,';
  return {
    Update: {
      Key: headKey(execution),
      UpdateExpression: `SET claim = :claim, leaseUntil = :until,${due} firstLeasedAt = if_not_exists(firstLeasedAt, :now) ADD claims :one`,
      ConditionExpression: `#status = :running AND ${leaseFree()}`,
      ExpressionAttributeNames: { '#status': 'status', ...(!isDueLater && { '#dueAt': sortKey }) },
      ExpressionAttributeValues: {
        ':claim': leaseId,
        ':until': until,
        ...leaseTimestamps(now, until),
        ':running': 'running',
        ':one': 1,
      },
      ReturnValues: 'ALL_NEW',
    },
    onConditionFailed,
  };
}

/** The parts of an update expression, and a further condition. */
type Changes = { set: string; remove?: string; add?: string; condition?: string };

/** Returns the part of a lease holder's update that stores its progress, and that this lease has stored the tokens. */
export function progressSet({ claim }: RunningExecution, progress: Progress) {
  return {
    set: 'progress = :progress, lastStored = :lastStored',
    values: { ':progress': progress, ':lastStored': { claim, tokens: progress.tokens } },
  };
}

/** Returns the fields of a head that its worker has noted before it asked a model. Each write of the worker stores them. */
export function notedFields({ promptHash, noted }: RunningExecution): Pick<ExecutionHead, 'promptHash' | 'received'> {
  return { ...(promptHash !== undefined && { promptHash }), ...(noted && { received: noted.number }) };
}

/** Returns the part of a lease holder's update that stores the fields that it has noted. */
export function notedSet(execution: RunningExecution) {
  const fields = Object.entries(notedFields(execution));
  return {
    sets: fields.map(([name]) => `${name} = :${name}`),
    values: Object.fromEntries(fields.map(([name, value]) => [`:${name}`, value])),
  };
}

/** Returns the write that stores what the worker of an execution gives to models, unless it is stored. */
export function receivedWrites(execution: RunningExecution): Write[] {
  const { noted, received } = execution;
  return noted && noted.number !== received ? [{ Put: { Item: receivedItem(execution, noted) } }] : [];
}

/** Returns a write by the lease holder of an execution; it fails with `LeaseLost` for any other worker. */
export function leaseHolderWrite(
  execution: RunningExecution,
  changes: Changes,
  values: Record<string, unknown>,
  names?: Record<string, string>,
): Write {
  return { Update: holderUpdate(execution, changes, values, names), onConditionFailed: () => new LeaseLost() };
}

/**
 * Returns a write of a result by the lease holder. It also fails, with `AgentChanged`, if the execution was marked since
 * the worker read it (`markExecutions`), and with `Conflict` if only the further condition is false.
 */
export function resultWrite(
  execution: RunningExecution,
  changes: Changes,
  values: Record<string, unknown>,
  names?: Record<string, string>,
): Write {
  const { claim, agentMark } = execution;
  const update = holderUpdate(execution, changes, values, names);
  const isMarkKnown = agentMark === undefined ? 'attribute_not_exists(agentMark)' : 'agentMark = :agentMark';
  return {
    Update: {
      ...update,
      ConditionExpression: `${update.ConditionExpression} AND ${isMarkKnown}`,
      ExpressionAttributeValues: {
        ...update.ExpressionAttributeValues,
        ...(agentMark !== undefined && { ':agentMark': agentMark }),
      },
    },
    onConditionFailed: (found) => {
      if (found?.status !== 'running' || found.claim !== claim) return new LeaseLost();
      return found.agentMark === agentMark ? new Conflict() : new AgentChanged();
    },
  };
}

function holderUpdate(
  execution: RunningExecution,
  { set, remove, add, condition }: Changes,
  values: Record<string, unknown>,
  names: Record<string, string> = { '#dueAt': sortKey },
) {
  return {
    Key: headKey(execution),
    UpdateExpression: `SET ${set}${remove ? ` REMOVE ${remove}` : ''}${add ? ` ADD ${add}` : ''}`,
    ConditionExpression: `#status = :running AND ${leaseHeld}${condition ? ` AND ${condition}` : ''}`,
    ExpressionAttributeNames: { '#status': 'status', ...names },
    ExpressionAttributeValues: { ':running': 'running', ':claim': execution.claim, ...values },
  };
}

/**
 * Returns the write that marks a running execution: its lease holder stores no result before it has read the agent again.
 * It fails with `Conflict` if the execution has ended.
 */
export function markWrite(execution: Pick<ExecutionHead, 'organization' | 'id'>, agentMark: string): Write {
  return {
    Update: {
      Key: headKey(execution),
      UpdateExpression: 'SET agentMark = :agentMark',
      ConditionExpression: '#status = :running',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: { ':running': 'running', ':agentMark': agentMark },
    },
    onConditionFailed: () => new Conflict(),
  };
}

/**
 * Returns the write that stores the progress of a lease holder that continues.
 *
 * @param outputParts the number of items of the output, if the transaction stores it
 * @param isFinished whether a step has ended: then the workers that were lost before it do not count any more
 */
export function progressWrite(
  execution: RunningExecution,
  progress: Progress,
  { outputParts = 0, isFinished }: { outputParts?: number; isFinished: boolean },
): Write {
  const stored = progressSet(execution, progress);
  const noted = notedSet(execution);
  const sets = [
    stored.set,
    ...noted.sets,
    ...(isFinished ? ['claims = :one'] : []),
    ...(outputParts > 0 ? ['outputParts = :parts'] : []),
  ];
  return leaseHolderWrite(
    execution,
    { set: sets.join(', ') },
    {
      ...stored.values,
      ...noted.values,
      ...(isFinished && { ':one': 1 }),
      ...(outputParts > 0 && { ':parts': outputParts }),
    },
    {},
  );
}

/**
 * How a lease is returned: when another worker may lease the execution, when the sweeper sends its message, and the
 * progress to keep.
 */
export type LeaseReturn = { until: string; dueAt: string; progress: Progress };

/**
 * Returns the write that returns a lease before the execution ends, and keeps the progress. No worker may lease the
 * execution before `until`. The lease does not count as lost.
 */
export function returnLeaseWrite(
  execution: RunningExecution,
  { until, dueAt, progress, outputParts }: LeaseReturn & { outputParts: number },
): Write {
  const stored = progressSet(execution, progress);
  const noted = notedSet(execution);
  const sets = [
    `leaseUntil = :until, #dueAt = :dueAt, ${stored.set}`,
    ...noted.sets,
    ...(outputParts > 0 ? ['outputParts = :parts'] : []),
  ];
  return resultWrite(
    execution,
    {
      set: sets.join(', '),
      remove: 'claim',
      add: 'claims :minusOne',
    },
    {
      ':until': until,
      ':dueAt': dueAt,
      ...stored.values,
      ...noted.values,
      ':minusOne': -1,
      ...(outputParts > 0 && { ':parts': outputParts }),
    },
  );
}

/** The fields of a head that an end sets. */
type HeadEnding = Ending &
  Pick<ExecutionHead, 'outputParts' | 'promptHash' | 'received' | 'lastStored' | 'gateReasons' | 'movesTask'>;

/**
 * Returns the write that ends an execution, and removes its lease, its mark and its entry in the sweeper's index. It fails
 * with `Conflict` if tokens were counted late since the execution was read.
 */
export function endWrite(execution: RunningExecution, ending: HeadEnding): Write {
  const { changes, values, names } = endOf(execution, ending);
  const { late } = execution;
  const condition = late ? 'late = :late' : 'attribute_not_exists(late)';
  return resultWrite(execution, { ...changes, condition }, { ...values, ...(late && { ':late': late }) }, names);
}

/** The fields that workers change when they lease an execution, return its lease or store a result. Renewals change none. */
const workerFields = ['claim', 'progress', 'outputParts', 'steps', 'step', 'late'] as const;

/** Returns the condition that an execution is running, and that no worker has changed it since it was read. */
export function unchangedExecution(execution: RunningExecution) {
  const known = workerFields.filter((field) => execution[field] !== undefined);
  const unknown = workerFields.filter((field) => execution[field] === undefined);
  return {
    condition: [
      '#status = :running',
      ...known.map((field) => `#read_${field} = :read_${field}`),
      ...unknown.map((field) => `attribute_not_exists(#read_${field})`),
    ].join(' AND '),
    names: { '#status': 'status', ...Object.fromEntries(workerFields.map((field) => [`#read_${field}`, field])) },
    values: {
      ':running': 'running',
      ...Object.fromEntries(known.map((field) => [`:read_${field}`, execution[field]])),
    },
  };
}

/**
 * Returns the write that ends an execution without its lease. It fails with `Conflict` if the execution has ended, or if a
 * worker has changed it since it was read.
 */
export function cancelWrite(execution: RunningExecution, ending: HeadEnding): Write {
  const { changes, values, names } = endOf(execution, ending);
  const read = unchangedExecution(execution);
  return {
    Update: {
      Key: headKey(execution),
      UpdateExpression: `SET ${changes.set} REMOVE ${changes.remove}`,
      ConditionExpression: read.condition,
      ExpressionAttributeNames: { ...names, ...read.names },
      ExpressionAttributeValues: { ...values, ...read.values },
    },
    onConditionFailed: () => new Conflict(),
  };
}

/** Returns the parts of the update that ends an execution. */
function endOf(execution: ExecutionHead, ending: HeadEnding) {
  const { by } = authorship();
  const fields = Object.entries({ ...ending, ...(by && { by }) });
  return {
    changes: {
      set: fields.map(([field]) => `#${field} = :new_${field}`).join(', '),
      // The worker may not know that its last write was made. A step that has not ended is in the head alone, so it stays.
      remove: `claim, leaseUntil, agentMark, #due, #dueAt, progress${isFormer(execution) ? ', step' : ''}${by ? '' : ', #by'}`,
    },
    values: Object.fromEntries(fields.map(([field, value]) => [`:new_${field}`, value])),
    names: {
      '#due': partitionKey,
      '#dueAt': sortKey,
      '#by': 'by',
      ...Object.fromEntries(fields.map(([field]) => [`#${field}`, field])),
    },
  };
}
