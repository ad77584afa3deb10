import type { Delegation, Execution } from '../../contract/executions/executions.ts';
import type { GateReasons } from '../../contract/executions/quality-gates.ts';
import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { TableContext } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { getEach, getItem, getItems, readRange } from '../access/reads.ts';
import { Conflict, ignoreConflict, retryOnConflict, transact } from '../access/transact.ts';
import type { OnConditionFailed, Write } from '../access/write.ts';
import { type AgentHead, agentFrom } from '../agents/agent-items.ts';
import type { AgentContext } from '../agents/agents.ts';
import type { RecordResponse } from '../idempotency.ts';
import type { StoredTask } from '../tasks/task-items.ts';
import { changeWrites } from '../tasks/tasks.ts';
import {
  delegationFrom,
  delegationItem,
  type Ending,
  type ExecutionHead,
  type ExecutionInput,
  executionFrom,
  executionItem,
  gateReasonsWrites,
  inputFrom,
  inputItem,
  isFormer,
  outputFrom,
  outputItems,
  outputKeys,
  type Progress,
  type RunningExecution,
  wholeExecution,
} from './execution-items.ts';
import { endingRowWrites, listedWrites, readExecutionPage } from './execution-lists.ts';
import { usesFormerLists } from './former-lists.ts';
import {
  cancelWrite,
  endWrite,
  LeaseLost,
  type LeaseReturn,
  leaseHolderWrite,
  leaseWrite,
  notedFields,
  progressWrite,
  receivedWrites,
  returnLeaseWrite,
} from './lease-writes.ts';
import { metricsWrites } from './metrics.ts';
import { countRunningDown, countStart, noteCountedStart, type StartContext } from './running.ts';

/** The change of a task that goes with a change of its execution: the task before and after. Without a new version it moves nothing. */
export type TaskMove = { before: StoredTask; after: StoredTask };

/** Returns whether a change gives its task a new version. */
const isMove = (change: TaskMove | undefined): boolean =>
  change !== undefined && change.after.version !== change.before.version;

/** Names an execution. */
export type ExecutionReference = Pick<ExecutionHead, 'organization' | 'id'>;

/**
 * Puts a new execution: its items, its rows and counters, the move of its task and the idempotency record, or nothing.
 *
 * @returns the execution as it is stored
 * @throws `Conflict` if the agent or the task has changed since it was read; `ApiError` `rate_limited`
 */
export async function insertExecution(
  context: StartContext,
  execution: RunningExecution,
  input: ExecutionInput,
  { dueAt, task, recordResponse }: { dueAt: string; task: TaskMove | undefined; recordResponse: RecordResponse },
): Promise<RunningExecution> {
  const { organization } = execution;
  const now = Date.parse(execution.startedAt);
  const isFormer = await usesFormerLists(context, organization, now);
  const moved: RunningExecution = { ...execution, ...(task && { movesTask: true }) };
  const stored: RunningExecution = isFormer ? moved : { ...moved, form: 2 };
  await transact(context.table, [
    { Put: { Item: executionItem(stored, dueAt), ConditionExpression: 'attribute_not_exists(pk)' } },
    { Put: { Item: inputItem(execution, input) } },
    ...(execution.delegationId ? [{ Put: { Item: delegationItem(execution) } }] : []),
    ...listedWrites(stored),
    countStart(context, organization, now),
    checkActive(execution),
    ...(task ? changeWrites(organization, task.before, task.after) : []),
    ...(recordResponse?.(execution) ?? []),
  ]);
  noteCountedStart(context, organization, now);
  return stored;
}

/** Returns the execution as it is now, without its input and output. */
export async function readExecutionHead(
  { table }: TableContext,
  { organization, id }: ExecutionReference,
): Promise<ExecutionHead | undefined> {
  const item = await getItem(table, keys.executionHead(organization, ulidOf(id)));
  return item && executionFrom(item);
}

/** Returns an execution and its agent as they are now, in one request that is no snapshot: either can be the older one. */
export async function readHeadWithAgent(
  { table, defaultModel }: AgentContext,
  { organization, id, agentName }: ExecutionReference & Pick<ExecutionHead, 'agentName'>,
): Promise<{ head: ExecutionHead | undefined; agent: AgentHead | undefined }> {
  const read = [keys.executionHead(organization, ulidOf(id)), keys.agent(organization, agentName)];
  const [head, agent] = await getEach(table, read);
  return { head: head && executionFrom(head), agent: agent && agentFrom(agent, defaultModel) };
}

/** Returns a delegation with the status of its execution; `undefined` if either does not exist. */
export async function readDelegation(
  context: TableContext,
  organization: Organization,
  id: string,
): Promise<Delegation | undefined> {
  const item = await getItem(context.table, keys.delegation(organization, ulidOf(id)));
  const execution = item && (await readExecutionHead(context, { organization, id: item.executionId as string }));
  return execution && delegationFrom(item, execution);
}

/** Returns the input of an execution; `undefined` if the execution was deleted. */
export async function readExecutionInput(
  { table }: TableContext,
  { organization, id }: ExecutionReference,
): Promise<ExecutionInput | undefined> {
  const item = await getItem(table, keys.executionInput(organization, ulidOf(id)));
  return item && inputFrom(item);
}

/** Returns the text of the input of each execution, without its context; `undefined` for a deleted execution. */
export async function readInputTexts(
  { table }: TableContext,
  organization: Organization,
  ids: readonly string[],
): Promise<(string | undefined)[]> {
  const items = await getEach(
    table,
    ids.map((id) => keys.executionInput(organization, ulidOf(id))),
  );
  return items.map((item) => item && inputFrom(item).input);
}

/** Returns the head and the input of an execution, in one request; `undefined` if either does not exist. */
export async function readExecutionWithInput(
  { table }: TableContext,
  { organization, id }: ExecutionReference,
): Promise<{ execution: ExecutionHead; input: ExecutionInput } | undefined> {
  const ulid = ulidOf(id);
  const read = [keys.executionHead(organization, ulid), keys.executionInput(organization, ulid)];
  const [head, input] = await getEach(table, read);
  return head && input && { execution: executionFrom(head), input: inputFrom(input) };
}

/** Returns the execution as it is now, with its input and output. */
export async function readExecution(
  { table }: TableContext,
  { organization, id }: ExecutionReference,
): Promise<(Execution & { agentId: string }) | undefined> {
  const pk = keys.execution(organization, ulidOf(id));
  // The steps come after all other items of the partition.
  return retryOnConflict(table, async () => wholeExecution(await readRange(table, { pk, to: 'OUT#~' })));
}

/** Returns the newest executions of an agent, as they are now. */
export async function readRecentExecutions(
  context: TableContext,
  organization: Organization,
  agentId: string,
  count: number,
): Promise<ExecutionHead[]> {
  const { items } = await readExecutionPage(context, organization, { agentId }, { limit: count, offset: 0 });
  const heads = await getItems(
    context.table,
    items.map(({ id }) => keys.executionHead(organization, ulidOf(id))),
  );
  return heads.map(executionFrom);
}

/**
 * Leases an execution. The sweeper sends its message again when the lease expires.
 *
 * @param lease the id of the lease, the current time and the expiry; ISO 8601
 * @returns `undefined` if the execution has ended, was deleted, or another worker holds the lease
 */
export async function leaseExecution(
  { table }: TableContext,
  reference: ExecutionReference,
  lease: { leaseId: string; now: string; until: string },
): Promise<RunningExecution | undefined> {
  let alreadyLeased: RunningExecution | undefined;
  const write = leaseWrite(reference, lease, (found) => {
    const execution = found && executionFrom(found);
    // The second try of the SDK, after a lost response, finds the lease of the first.
    if (execution?.claim === lease.leaseId) alreadyLeased = execution as RunningExecution;
    return new Conflict();
  });
  const item = await transact(table, [write]).catch(ignoreConflict);
  return item ? (executionFrom(item) as RunningExecution) : alreadyLeased;
}

/**
 * Renews the lease of an execution.
 *
 * @param until the new expiry; ISO 8601
 * @throws `LeaseLost`
 */
export async function renewLease({ table }: TableContext, execution: RunningExecution, until: string): Promise<void> {
  await transact(table, [
    leaseHolderWrite(execution, { set: 'leaseUntil = :until, #dueAt = :until' }, { ':until': until }),
  ]);
}

/**
 * Returns the lease of an execution that another worker will continue later, and keeps the progress.
 *
 * @param output the generated text, if there is one that is not stored yet
 * @param gateReasons the reasons of the gates that have answered since the lease was taken
 * @throws `LeaseLost`, `AgentChanged`
 */
export async function returnLease(
  { table }: TableContext,
  execution: RunningExecution,
  lease: LeaseReturn,
  output?: string,
  gateReasons?: GateReasons,
): Promise<void> {
  const parts = output === undefined ? [] : outputItems(execution, output, gateReasons);
  await transact(table, [
    returnLeaseWrite(execution, { ...lease, outputParts: parts.length }),
    ...receivedWrites(execution),
    ...parts.map((Item): Write => ({ Put: { Item } })),
    ...(output === undefined ? gateReasonsWrites(execution, gateReasons) : []),
  ]);
}

/**
 * Stores the progress of a lease holder that continues: after a finished step, or the tokens of a failed call.
 *
 * @param output the generated text, if there is one that is not stored yet
 * @returns the execution as it is stored then
 * @throws `LeaseLost`
 */
export async function storeExecutionProgress(
  { table }: TableContext,
  execution: RunningExecution,
  progress: Progress,
  { output, isFinished = true }: { output?: string; isFinished?: boolean } = {},
): Promise<RunningExecution> {
  const parts = output === undefined ? [] : outputItems(execution, output);
  await transact(table, [
    progressWrite(execution, progress, { outputParts: parts.length, isFinished }),
    ...receivedWrites(execution),
    ...parts.map((Item): Write => ({ Put: { Item } })),
  ]);
  return {
    ...execution,
    ...notedFields(execution),
    progress,
    ...(isFinished && { claims: 1 }),
    ...(parts.length > 0 && { outputParts: parts.length }),
  };
}

/**
 * Returns the output that an earlier worker stored; `undefined` if there is none.
 *
 * @throws `LeaseLost` if it was deleted, because the execution was cancelled or purged since it was leased
 */
export async function readStoredOutput(
  { table }: TableContext,
  { organization, id, outputParts }: RunningExecution,
): Promise<string | undefined> {
  if (outputParts === undefined) return undefined;
  const pk = keys.execution(organization, ulidOf(id));
  const parts = await readRange(table, { pk, from: 'OUT#', to: 'OUT#~' });
  if (parts.length < outputParts) throw new LeaseLost();
  return outputFrom(parts, outputParts);
}

/**
 * Ends an execution: status and output, rows and counters, the metrics of the day, and the move of the task. An output
 * that is stored already is not written again; the output of an execution that failed is deleted.
 *
 * @throws `LeaseLost`, `AgentChanged`; `Conflict` if the task has changed, or tokens were counted late, since they were read
 */
export async function endExecution(
  { table }: TableContext,
  execution: RunningExecution,
  ending: Ending,
  {
    output = '',
    gateReasons,
    task,
  }: { output?: string | undefined; gateReasons?: GateReasons | undefined; task?: TaskMove | undefined },
): Promise<void> {
  const { outputParts: stored } = execution;
  const completed = ending.status === 'completed';
  const lastStored = { claim: execution.claim as string, tokens: storedTokens(execution, ending) };
  const parts = completed && stored === undefined ? outputItems(execution, output, gateReasons) : [];
  const later = completed && stored !== undefined ? gateReasons : undefined;
  const isInHead = !isFormer(execution) && later !== undefined && Object.keys(later).length > 0;
  await transact(table, [
    endWrite(execution, {
      ...ending,
      ...notedFields(execution),
      ...{ lastStored, outputParts: completed ? (stored ?? parts.length) : 0, movesTask: isMove(task) },
      ...(isInHead && { gateReasons: later }),
    }),
    ...receivedWrites(execution),
    ...parts.map((Item): Write => ({ Put: { Item } })),
    ...(isInHead ? [] : gateReasonsWrites(execution, later)),
    ...(completed ? [] : deleteOutput(execution)),
    ...endingWrites(execution, ending, task, () => new LeaseLost()),
  ]);
}

/**
 * Ends a running execution without its lease. The worker that holds the lease loses it.
 *
 * @throws `Conflict` if the execution, its rows or its task have changed since they were read
 */
export async function cancelRunning(
  { table }: TableContext,
  execution: RunningExecution,
  ending: Ending,
  { task, records }: { task: TaskMove | undefined; records: readonly Write[] },
): Promise<void> {
  await transact(table, [
    cancelWrite(execution, { ...ending, outputParts: 0, movesTask: isMove(task) }),
    ...deleteOutput(execution),
    ...endingWrites(execution, ending, task, () => new Conflict()),
    ...records,
  ]);
}

function deleteOutput(execution: RunningExecution): Write[] {
  return outputKeys(execution).map((Key) => ({ Delete: { Key } }));
}

/** Returns the writes of an end besides its head and its output: rows and counters, metrics, and the move of the task. */
function endingWrites(
  execution: RunningExecution,
  ending: Ending,
  task: TaskMove | undefined,
  onRowMissing: OnConditionFailed,
): Write[] {
  const { organization } = execution;
  return [
    ...endingRowWrites(execution, { ...execution, ...ending }, onRowMissing),
    countRunningDown(organization, storedTokens(execution, ending), ending.completedAt),
    ...metricsWrites(execution, ending),
    ...(task ? changeWrites(organization, task.before, task.after) : []),
  ];
}

/** Returns the tokens of an end without the late tokens, which the counter of their day has. */
function storedTokens({ late }: RunningExecution, { tokensUsed }: Ending): number {
  return tokensUsed - (late?.tokens ?? 0);
}

/** Returns the condition that the agent of an execution still exists and is active. */
function checkActive({ organization, agentName, agentId }: RunningExecution): Write {
  return {
    ConditionCheck: {
      Key: keys.agent(organization, agentName),
      ConditionExpression: 'id = :id AND #status = :active',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: { ':id': agentId, ':active': 'active' },
    },
    onConditionFailed: () => new Conflict(),
  };
}
