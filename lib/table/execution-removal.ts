import type { ExecutionStatus } from '../contract/executions.ts';
import { ulidOf } from '../contract/ids.ts';
import type { Table } from './client.ts';
import { deletePartition } from './delete-partition.ts';
import { type ExecutionHead, executionFrom, facetOf } from './execution-items.ts';
import type { TaskMove } from './executions.ts';
import { keys } from './keys.ts';
import { counterOf, everything, leavingLimit, leavingWrites } from './listing.ts';
import type { AgentPurge } from './purge-items.ts';
import { getItem, getItems, queryItems } from './reads.ts';
import { countDown } from './running.ts';
import { type StoredTask, taskFrom } from './task-items.ts';
import { changeWrites } from './tasks.ts';
import { Conflict, retryOnConflict, transact } from './transact.ts';
import type { Item, Write } from './write.ts';

/** How a task that an execution had taken on goes on without it; `undefined`: it is left alone. */
export type Release = (task: StoredTask, executionId: string) => TaskMove | undefined;

/** So many counter rows are written to side by side: transactions over the same one would conflict. */
const countersAtOnce = 16;

/** So many executions are purged side by side. */
const purgedAtOnce = 25;

/**
 * Takes the executions of a deleted agent out of its organization's list: with this they are gone from everything
 * that can still be read (docs/architecture.md#deletions). The agent's own list says which they are; nothing is added
 * to it any more, for every start checks the agent.
 */
export async function leaveList(table: Table, { organization, agentId }: AgentPurge): Promise<void> {
  const all = keys.executionScope(organization);
  const executions = await Array.fromAsync(listed(table, { organization, agentId }));
  const waiting = [...Map.groupBy(executions, ({ ulid }) => counterOf(ulid)).values()];
  const leave = async (group: readonly { ulid: string }[]): Promise<void> => {
    for (let at = 0; at < group.length; at += leavingLimit) {
      const batch = group.slice(at, at + leavingLimit).map(({ ulid }) => keys.listRow(all, everything, ulid));
      await retryOnConflict(table, async () => {
        // What ends at this moment stands in another facet the next time; what another has taken out is not found.
        const membership = (await getItems(table, batch)).map(({ id, status }) => ({
          ulid: ulidOf(id as string),
          facet: facetOf(status as ExecutionStatus),
        }));
        if (membership.length > 0)
          await transact(
            table,
            leavingWrites(all, membership, () => new Conflict()),
          );
      });
    }
  };
  while (waiting.length > 0) await Promise.all(waiting.splice(0, countersAtOnce).map(leave));
}

/**
 * Deletes the executions of a deleted agent. One that ran gives its place and its task back; its worker, if there is
 * one, finds its row gone and drops what it has. A purge that is killed goes on with what is left.
 */
export async function purgeExecutions(table: Table, purge: AgentPurge, release: Release): Promise<void> {
  const own = keys.executionScope(purge.organization, ulidOf(purge.agentId));
  const batch: { ulid: string; status: ExecutionStatus }[] = [];
  const purgeBatch = async (): Promise<void> => {
    const executions = batch.splice(0);
    await Promise.all(executions.map(({ ulid }) => purgeExecution(table, purge, ulid, release)));
    const rows = executions.flatMap(({ ulid, status }) =>
      [everything, facetOf(status)].map((run) => keys.listRow(own, run, ulid)),
    );
    await transact(
      table,
      rows.map((Key) => ({ Delete: { Key } })),
    );
  };
  for await (const execution of listed(table, purge)) {
    batch.push(execution);
    if (batch.length === purgedAtOnce) await purgeBatch();
  }
  if (batch.length > 0) await purgeBatch();
}

/** The executions in an agent's own list. */
async function* listed(
  table: Table,
  { organization, agentId }: AgentPurge,
): AsyncGenerator<{ ulid: string; status: ExecutionStatus }> {
  const { rows: pk } = keys.executionScope(organization, ulidOf(agentId));
  for await (const { id, status } of queryItems(table, { pk, from: `${everything}#`, to: `${everything}#~` }))
    yield { ulid: ulidOf(id as string), status: status as ExecutionStatus };
}

/**
 * Deletes all that an execution has. Its delegation goes in one write with the head that names it, and so do the place
 * and the task that it gives back: whoever comes after a purge that was killed finds each of them either way, once.
 */
async function purgeExecution(
  table: Table,
  { organization }: AgentPurge,
  ulid: string,
  release: Release,
): Promise<void> {
  const Key = keys.executionHead(organization, ulid);
  await retryOnConflict(table, async () => {
    const item = await getItem(table, Key);
    const execution = item && executionFrom(item);
    const beside = execution ? [...delegationGone(execution), ...(await givenBack(table, execution, release))] : [];
    if (beside.length === 0) return;
    await transact(table, [
      { Delete: { Key, ConditionExpression: 'attribute_exists(pk)' }, onConditionFailed: () => new Conflict() },
      ...beside,
    ]);
  });
  await deletePartition(table, keys.execution(organization, ulid));
}

function delegationGone({ organization, delegationId }: ExecutionHead): Write[] {
  return delegationId === undefined ? [] : [{ Delete: { Key: keys.delegation(organization, ulidOf(delegationId)) } }];
}

/** What an execution that runs gives back. */
async function givenBack(table: Table, execution: ExecutionHead, release: Release): Promise<Write[]> {
  const { organization, id, status, taskId } = execution;
  if (status !== 'running') return [];
  const task = taskId && (await getItem(table, keys.task(organization, ulidOf(taskId))));
  const move = task ? release(taskFrom(task as Item), id) : undefined;
  return [countDown(organization), ...(move ? changeWrites(organization, move.before, move.after) : [])];
}
