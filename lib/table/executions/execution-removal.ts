import type { ExecutionStatus } from '../../contract/executions/executions.ts';
import { ulidOf } from '../../contract/ids.ts';
import type { TableContext } from '../access/client.ts';
import { type Key, keys } from '../access/keys.ts';
import { getItem } from '../access/reads.ts';
import { Conflict, retryOnConflict, transact } from '../access/transact.ts';
import type { Item, Write } from '../access/write.ts';
import { counterOf } from '../lists/listing.ts';
import { deletePartition } from '../purges/delete-partition.ts';
import type { AgentPurge } from '../purges/purge-items.ts';
import { type StoredTask, taskFrom } from '../tasks/task-items.ts';
import { changeWrites } from '../tasks/tasks.ts';
import { type ExecutionHead, executionFrom, isRunning } from './execution-items.ts';
import { readListed, rowKeys, unlistedAtOnce, unlistingWrites } from './execution-lists.ts';
import type { TaskMove } from './executions.ts';
import { unchangedExecution } from './lease-writes.ts';
import { tokenWrites } from './metrics.ts';
import { countRunningDown } from './running.ts';

/** Returns the move of the task of a purged execution; `undefined` if the task stays as it is. */
export type ReleaseTask = (task: StoredTask, executionId: string) => TaskMove | undefined;

/** How many counter rows are written at the same time. Transactions over the same counter row would conflict. */
const countersAtOnce = 16;

/** How many executions are purged at the same time. */
const purgedAtOnce = 25;

/**
 * Removes the executions of a deleted agent from the list of its organization, the last place in which requests find them
 * (docs/architecture.md#deletions). The agent's own list names them. Nothing is added to that list any more: every start
 * checks that the agent exists.
 */
export async function unlistExecutions(context: TableContext, { organization, agentId }: AgentPurge): Promise<void> {
  const { table } = context;
  const executions = await Array.fromAsync(readListed(context, organization, agentId));
  const waiting = [...Map.groupBy(executions, ({ ulid }) => counterOf(ulid)).values()];
  const leave = async (group: readonly { ulid: string }[]): Promise<void> => {
    for (let at = 0; at < group.length; at += unlistedAtOnce) {
      const batch = group.slice(at, at + unlistedAtOnce).map(({ ulid }) => ulid);
      await retryOnConflict(table, async () => {
        // The next try finds another row of an execution that has just ended, and none that another worker removed.
        const writes = await unlistingWrites(context, { organization, agentId }, batch);
        if (writes.length > 0) await transact(table, writes);
      });
    }
  };
  while (waiting.length > 0) await Promise.all(waiting.splice(0, countersAtOnce).map(leave));
}

/**
 * Deletes the executions of a deleted agent. One that is running is no longer counted, its tokens are counted, and its
 * task is released; its worker loses its lease. The purge can be repeated: it continues with the remaining executions.
 *
 * @param now the current time; ISO 8601
 */
export async function purgeExecutions(
  context: TableContext,
  purge: AgentPurge,
  releaseTask: ReleaseTask,
  now: string,
): Promise<void> {
  const own = keys.executionScope(purge.organization, ulidOf(purge.agentId));
  const batch: { ulid: string; status: ExecutionStatus }[] = [];
  const purgeBatch = async (): Promise<void> => {
    const executions = batch.splice(0);
    await Promise.all(executions.map(({ ulid }) => purgeExecution(context, purge, ulid, releaseTask, now)));
    const rows = executions.flatMap(({ ulid, status }) => rowKeys(own, ulid, status));
    await transact(
      context.table,
      rows.map((Key) => ({ Delete: { Key } })),
    );
  };
  for await (const execution of readListed(context, purge.organization, purge.agentId)) {
    batch.push(execution);
    if (batch.length === purgedAtOnce) await purgeBatch();
  }
  if (batch.length > 0) await purgeBatch();
}

/**
 * Deletes the items of an execution. One transaction deletes the head and the delegation, counts a running execution down
 * with its tokens, and releases its task. So a purge that is repeated does each of them once.
 */
async function purgeExecution(
  context: TableContext,
  { organization }: AgentPurge,
  ulid: string,
  releaseTask: ReleaseTask,
  now: string,
): Promise<void> {
  const { table } = context;
  const Key = keys.executionHead(organization, ulid);
  await retryOnConflict(table, async () => {
    const item = await getItem(table, Key);
    const execution = item && executionFrom(item);
    const others = execution
      ? [...deleteDelegation(execution), ...(await releaseWrites(context, execution, releaseTask, now))]
      : [];
    if (!execution || others.length === 0) return;
    await transact(table, [deleteHead(Key, execution), ...others]);
  });
  await deletePartition(table, keys.execution(organization, ulid));
}

/** Returns the delete of a head, on the condition that its worker has not ended or changed it since it was read. */
function deleteHead(key: Key, execution: ExecutionHead): Write {
  const read = isRunning(execution) ? unchangedExecution(execution) : undefined;
  return {
    Delete: {
      Key: key,
      ConditionExpression: read?.condition ?? 'attribute_exists(pk)',
      ...(read && { ExpressionAttributeNames: read.names, ExpressionAttributeValues: read.values }),
    },
    onConditionFailed: () => new Conflict(),
  };
}

function deleteDelegation({ organization, delegationId }: ExecutionHead): Write[] {
  return delegationId === undefined ? [] : [{ Delete: { Key: keys.delegation(organization, ulidOf(delegationId)) } }];
}

/** Returns the writes that count a running execution down, count its tokens and release its task. */
async function releaseWrites(
  { table }: TableContext,
  execution: ExecutionHead,
  releaseTask: ReleaseTask,
  now: string,
): Promise<Write[]> {
  if (!isRunning(execution)) return [];
  const { organization, id, taskId, progress, late } = execution;
  const tokens = progress?.tokens ?? 0;
  const allTokens = tokens + (late?.tokens ?? 0);
  const task = taskId && (await getItem(table, keys.task(organization, ulidOf(taskId))));
  const move = task ? releaseTask(taskFrom(task as Item), id) : undefined;
  return [
    countRunningDown(organization, tokens, now),
    ...(allTokens > 0 ? tokenWrites(execution, allTokens, true) : []),
    ...(move ? changeWrites(organization, move.before, move.after) : []),
  ];
}
