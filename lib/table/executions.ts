import type { Page } from '../contract/endpoint.ts';
import type { Delegation, Execution, ExecutionListItem, ExecutionStatus } from '../contract/executions.ts';
import { ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { Table } from './client.ts';
import { type Overdue, openDueList } from './due.ts';
import {
  type Asked,
  askedFrom,
  delegationFrom,
  delegationItem,
  type Ending,
  type ExecutionHead,
  executionFrom,
  executionItem,
  executionMembership,
  executionPartition,
  facetOf,
  inputItem,
  outputFrom,
  outputItems,
  outputKeys,
  type RunningExecution,
  wholeExecution,
} from './execution-items.ts';
import { claimWrite, endWrite, type GivenBack, giveBackWrite, heldWrite, Lost } from './execution-steps.ts';
import type { RecordResponse } from './idempotency.ts';
import { keys } from './keys.ts';
import { listingWrites, readPage } from './listing.ts';
import { metricsWrite } from './metrics.ts';
import { getItem, getItems, queryItems } from './reads.ts';
import { countDown, openStartCounts } from './running.ts';
import type { StoredTask } from './task-items.ts';
import { changeWrites } from './tasks.ts';
import { Conflict, ignoreConflict, retryOnConflict, transact } from './transact.ts';
import type { Write } from './write.ts';

/** A task that moves along: what was read of it, and what it becomes. */
export type TaskMove = { before: StoredTask; after: StoredTask };

/** Names an execution. */
export type ExecutionReference = Pick<ExecutionHead, 'organization' | 'id'>;

/**
 * The executions of organizations. Every step is one conditional write, or one transaction
 * (docs/architecture.md#executions).
 *
 * @param cap how many of an organization may run at once
 * @param perMinute how many an organization may start in a minute, if it has no limit of its own
 */
export function openExecutionStore(table: Table, cap: number, perMinute?: number) {
  const starts = openStartCounts({ running: cap, perMinute });

  return {
    table,

    /**
     * Puts a new execution: what it was asked, its rows and counters, the task's move and the answer, or nothing.
     *
     * @throws `Conflict` when the agent or the task is no longer what was read; `ApiError` `rate_limited`
     */
    async start(
      execution: RunningExecution,
      asked: Asked,
      { dueAt, task, recordResponse }: { dueAt: string; task: TaskMove | undefined; recordResponse: RecordResponse },
    ): Promise<void> {
      const { organization } = execution;
      const now = Date.parse(execution.startedAt);
      await transact(table, [
        { Put: { Item: executionItem(execution, dueAt), ConditionExpression: 'attribute_not_exists(pk)' } },
        { Put: { Item: inputItem(execution, asked) } },
        ...(execution.delegationId ? [{ Put: { Item: delegationItem(execution) } }] : []),
        ...listingWrites(undefined, executionMembership(execution)),
        starts.countUp(organization, now),
        stillActive(execution),
        ...(task ? changeWrites(organization, task.before, task.after) : []),
        ...(recordResponse ? [recordResponse(execution)] : []),
      ]);
      starts.counted(organization, now);
    },

    /** The execution as it is now, without what it was asked and has answered. */
    async head({ organization, id }: ExecutionReference): Promise<ExecutionHead | undefined> {
      const item = await getItem(table, keys.executionHead(organization, ulidOf(id)));
      return item && executionFrom(item);
    },

    /** The executions of an agent that run now on a task; on none, where none is named. */
    async runningOn(organization: Organization, agentId: string, taskId: string | undefined): Promise<ExecutionHead[]> {
      const { rows: pk } = keys.executionScope(organization, ulidOf(agentId));
      const run = facetOf('running');
      const rows = await Array.fromAsync(queryItems(table, { pk, from: `${run}#`, to: `${run}#~` }));
      const sought = rows.filter((row) => row.taskId === taskId).map(({ id }) => ulidOf(id as string));
      const heads = await getItems(
        table,
        sought.map((ulid) => keys.executionHead(organization, ulid)),
      );
      return heads.map(executionFrom).filter(({ status }) => status === 'running');
    },

    /** A delegation, and where it stands; `undefined` where it, or its execution, is gone. */
    async delegation(organization: Organization, id: string): Promise<Delegation | undefined> {
      const item = await getItem(table, keys.delegation(organization, ulidOf(id)));
      const execution = item && (await this.head({ organization, id: item.executionId as string }));
      return execution && delegationFrom(item, execution);
    },

    /** What the execution was asked; `undefined` where it is gone. */
    async asked({ organization, id }: ExecutionReference): Promise<Asked | undefined> {
      const item = await getItem(table, keys.executionInput(organization, ulidOf(id)));
      return item && askedFrom(item);
    },

    /** The execution whole, as it is now. */
    async get({ organization, id }: ExecutionReference): Promise<(Execution & { agentId: string }) | undefined> {
      const pk = keys.execution(organization, ulidOf(id));
      return retryOnConflict(table, async () => wholeExecution(await Array.fromAsync(queryItems(table, { pk }))));
    },

    /** The newest executions of an agent, as they are now. */
    async recent(organization: Organization, agentId: string, count: number): Promise<ExecutionHead[]> {
      const list = keys.executionScope(organization, ulidOf(agentId));
      const { rows } = await readPage(table, { list, limit: count, offset: 0 });
      const heads = await getItems(
        table,
        rows.map(({ ulid }) => keys.executionHead(organization, ulid)),
      );
      return heads.map(executionFrom);
    },

    /** A page of the executions of all agents or of one, newest first, and the exact number of all that match. */
    async list(
      organization: Organization,
      { agentId, status }: { agentId?: string | undefined; status?: ExecutionStatus | undefined },
      page: { limit: number; offset: number },
    ): Promise<Page<ExecutionListItem>> {
      const list = keys.executionScope(organization, agentId && ulidOf(agentId));
      const { rows, total } = await readPage(table, { list, facets: status && [facetOf(status)], ...page });
      return { items: rows.map(({ entry }) => entry as ExecutionListItem), total };
    },

    /**
     * Takes an execution in hand until the lease ends. Answers `undefined` where it has ended, is gone, or is in
     * another's hand. The sweeper looks at it again when the lease ends.
     */
    async claim(
      reference: ExecutionReference,
      lease: { claim: string; now: string; until: string },
    ): Promise<RunningExecution | undefined> {
      let own: RunningExecution | undefined;
      const write = claimWrite(reference, lease, (found) => {
        const execution = found && executionFrom(found);
        // The client's own second try, after an answer that was lost, finds what the first has written.
        if (execution?.claim === lease.claim) own = execution as RunningExecution;
        return new Conflict();
      });
      const item = await transact(table, [write]).catch(ignoreConflict);
      return item ? (executionFrom(item) as RunningExecution) : own;
    },

    /**
     * Holds on to an execution that this worker has in hand.
     *
     * @throws `Lost`
     */
    async renew(execution: RunningExecution, until: string): Promise<void> {
      await transact(table, [
        heldWrite(execution, { set: 'leaseUntil = :until, #dueAt = :until' }, { ':until': until }),
      ]);
    },

    /**
     * Gives back the lease of an execution that a worker will go on with later, and keeps what was done so far.
     *
     * @param output the model's answer, where there is one that is not stored yet
     * @throws `Lost`
     */
    async giveBack(execution: RunningExecution, back: GivenBack, output?: string): Promise<void> {
      const parts = output === undefined ? [] : outputItems(execution, output);
      await transact(table, [
        giveBackWrite(execution, { ...back, outputParts: parts.length }),
        ...parts.map((Item): Write => ({ Put: { Item } })),
      ]);
    },

    /** The model's answer that an earlier worker stored; `undefined` where there is none. */
    async storedOutput({ organization, id, outputParts }: RunningExecution): Promise<string | undefined> {
      if (outputParts === undefined) return undefined;
      const pk = keys.execution(organization, ulidOf(id));
      return outputFrom(await Array.fromAsync(queryItems(table, { pk, from: 'OUT#', to: 'OUT#~' })), outputParts);
    },

    /**
     * Ends an execution that this worker has in hand: status and output, rows and counters, the day's metrics, and
     * the task's move. An output that was stored before is not written again; of an execution that fails it is deleted.
     *
     * @throws `Lost`; `Conflict` when the task is no longer what was read
     */
    async end(
      execution: RunningExecution,
      ending: Ending,
      { output = '', task }: { output?: string | undefined; task?: TaskMove | undefined },
    ): Promise<void> {
      const { organization, agentId, startedAt } = execution;
      const ended: ExecutionHead = { ...execution, ...ending };
      const { outputParts: stored } = execution;
      const completed = ending.status === 'completed';
      const parts = completed && stored === undefined ? outputItems(execution, output) : [];
      await transact(table, [
        endWrite(execution, { ...ending, outputParts: completed ? (stored ?? parts.length) : 0 }),
        ...parts.map((Item): Write => ({ Put: { Item } })),
        ...(completed ? [] : outputKeys(execution).map((Key): Write => ({ Delete: { Key } }))),
        ...listingWrites(executionMembership(execution), executionMembership(ended)).map(ifThere),
        countDown(organization),
        metricsWrite(organization, agentId, startedAt, ending),
        ...(task ? changeWrites(organization, task.before, task.after) : []),
      ]);
    },
  };
}

export type ExecutionStore = ReturnType<typeof openExecutionStore>;

/** The executions that the sweeper's index lists. Apart from the store, which functions of the API carry. */
export function openOverdueExecutions(table: Table) {
  const waiting = openDueList(table, [executionPartition]);
  return {
    due: waiting.due,

    /** Lists an execution for a later moment and answers it as it is now; `undefined` where it has moved on. */
    async postpone(overdue: Overdue, later: string): Promise<ExecutionHead | undefined> {
      const item = await waiting.postpone(overdue, later);
      return item && executionFrom(item);
    },
  };
}

export type OverdueExecutions = ReturnType<typeof openOverdueExecutions>;

/** No execution is begun by an agent that was deleted or set inactive meanwhile. */
function stillActive({ organization, agentName, agentId }: RunningExecution): Write {
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

/** The rows of an execution go with its agent; one that is purged must not come back by a late end. */
function ifThere(write: Write): Write {
  if (!('Delete' in write)) return write;
  return {
    Delete: { ...write.Delete, ConditionExpression: 'attribute_exists(pk)' },
    onConditionFailed: () => new Lost(),
  };
}
