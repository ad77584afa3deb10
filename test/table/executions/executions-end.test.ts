import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { moveOnStart } from '../../../lib/executions/task-moves.ts';
import type { Table } from '../../../lib/table/client.ts';
import {
  type Ending,
  executionPartition,
  type RunningExecution,
} from '../../../lib/table/executions/execution-items.ts';
import { LeaseLost } from '../../../lib/table/executions/execution-steps.ts';
import {
  endExecution,
  leaseExecution,
  readExecution,
  readExecutionHead,
  readExecutionPage,
} from '../../../lib/table/executions/executions.ts';
import { idempotencyRecordWrite } from '../../../lib/table/idempotency.ts';
import { readDue } from '../../../lib/table/lists/due.ts';
import { Conflict, transactionLimit } from '../../../lib/table/transact.ts';
import type { Item } from '../../../lib/table/write.ts';
import { deleteTask, updateTask } from '../../../lib/tasks/tasks.ts';
import { dumpOf } from '../../table-dump.ts';
import { meter } from '../fixtures/capacity.ts';
import { interceptTable } from '../fixtures/intercepted-table.ts';
import { faultsOf } from '../tasks/oracle.ts';
import { always } from '../tasks/test-table.ts';
import { at, completed, createExecutionTable, type ExecutionTable, failed, lease } from './execution-table.ts';

const firstPage = { limit: 20, offset: 0 };
let board: ExecutionTable;
beforeEach(async () => {
  board = await createExecutionTable();
});

const dump = () => dumpOf(board.table, board.organization);
const faults = () => faultsOf(board.table, board.organization);

/** Returns the error of an end, which must write nothing. */
async function failureOf(execution: RunningExecution, options: Parameters<typeof endExecution>[3] = {}) {
  const before = await dump();
  const failure: unknown = await endExecution(board, execution, completed(), { output: 'Late.', ...options }).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(await dump()).toEqual(before);
  return failure;
}

describe('an end', () => {
  it.each<[string, Ending, string | undefined]>([
    ['as completed', completed(), `${'x'.repeat(300_000)}🙂`],
    ['as completed without a word', completed({ durationMs: 0, tokensUsed: 0 }), ''],
    ['as failed', failed(), undefined],
  ])(
    '%s writes every field, moves rows and counters, and counts one running execution less',
    async (_, ending, output) => {
      const { organization, agent } = board;
      const execution = await board.leased();
      await endExecution(board, execution, ending, { output });

      const { claim: __, leaseUntil: ___, ...kept } = execution;
      const head = await readExecutionHead(board, execution);
      expect(head).toMatchObject({ ...kept, ...ending });
      expect(['claim', 'leaseUntil'].filter((field) => field in (head ?? {}))).toEqual([]);
      const { status, completedAt, durationMs, tokensUsed, selfTest, qaReview, error } = ending;
      const { id, agentName, startedAt } = execution;
      const whole = await readExecution(board, execution);
      expect(whole).toMatchObject({ status, tokensUsed, qualityGates: { selfTest, qaReview }, input: 'Do it.' });
      expect([whole?.output === output, whole?.error]).toEqual([true, error]);
      const shown = { items: [{ id, agentName, status, startedAt, completedAt, durationMs }], total: 1 };
      for (const filter of [{}, { status }, { agentId: agent.id }, { agentId: agent.id, status }])
        expect(await readExecutionPage(board, organization, filter, firstPage)).toEqual(shown);
      const left = await readExecutionPage(board, organization, { status: 'running' }, firstPage);
      expect(left).toEqual({ items: [], total: 0 });
      expect(await Array.fromAsync(readDue(board, [executionPartition], '9999'))).toEqual([]);
      expect(await faults()).toEqual([]);
    },
  );

  it('succeeds once in concurrent tries of two workers', async () => {
    const execution = await board.leased();
    const second = (await leaseExecution(board, execution, lease('second', 30))) as RunningExecution;
    const leases = [execution, second, execution, second, second, second];
    const tried = await Promise.allSettled(
      leases.map((leased, nth) => endExecution(board, leased, nth % 2 ? failed() : completed(), { output: `${nth}` })),
    );
    const lost = tried.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(lost).toHaveLength(5);
    expect(lost.every((reason) => reason instanceof LeaseLost)).toBe(true);
    expect(tried[0]?.status === 'fulfilled' || tried[2]?.status === 'fulfilled').toBe(false);
    expect(await faults()).toEqual([]);
  });

  it('is rejected for a worker whose lease another worker took over, and for one that never had the lease', async () => {
    const never = { ...(await board.start()), claim: 'made-up' };
    expect(await failureOf(never)).toBeInstanceOf(LeaseLost);
    const execution = await board.leased();
    await leaseExecution(board, execution, lease('second', 30));
    expect(await failureOf(execution)).toBeInstanceOf(LeaseLost);
  });
});

describe('the end of an execution on a task', () => {
  let execution: RunningExecution;
  let taskId: string;
  beforeEach(async () => {
    ({ id: taskId } = await board.put({ projectId: 'proj_apollo' }));
    execution = await board.leased(await board.startOn(taskId));
  });

  it('moves the task and removes its owner', async () => {
    const { owner, ...kept } = await board.stored(taskId);
    expect(owner).toBe(execution.id);
    await endExecution(board, execution, completed(), { task: await board.release(execution, 'assigned') });
    expect(await board.stored(taskId)).toEqual({ ...kept, status: 'assigned', version: 3, updatedAt: at(5) });
    expect(await faults()).toEqual([]);
  });

  it.each([
    ['changed', () => updateTask(board, board.organization, taskId, { title: 'Another' }, always)],
    ['deleted', () => deleteTask(board, board.organization, taskId, always)],
  ])('throws `Conflict` if the task was %s, and succeeds without the change', async (_, happens) => {
    const task = await board.release(execution);
    await happens();
    expect(await failureOf(execution, { task })).toBeInstanceOf(Conflict);
    await endExecution(board, execution, completed(), {});
    expect(await faults()).toEqual([]);
  });
});

it('the largest start and the largest end are one transaction each', async () => {
  const { transactionsOf } = meter(board.table);
  const { id: taskId } = await board.put({ assignedAgent: 'qa-reviewer', projectId: 'proj_apollo' });
  const request = { key: 'k', operation: 'executeAgent', path: '/', body: {} };
  const recordResponse = (answer: unknown) => idempotencyRecordWrite(board.app, board.organization, request, answer);
  const delegated = { delegationId: 'dl_01K00000000000000000000000', delegatedBy: 'reader', ancestors: [], depth: 1 };
  const execution = board.newExecution({ taskId, ...delegated });
  const task = moveOnStart(await board.stored(taskId), execution, false, at(1));
  const starts = await transactionsOf(() => board.start(execution, { task, recordResponse }));
  const leased = await board.leased(execution);
  const release = await board.release(leased);
  const output = '🙂'.repeat(250_000);
  const ends = await transactionsOf(() => endExecution(board, leased, completed(), { output, task: release }));
  expect([starts.length, ends.length]).toEqual([1, 1]);
  expect(Math.max(...starts, ...ends)).toBeLessThanOrEqual(transactionLimit);
  expect((await readExecution(board, leased))?.output === output).toBe(true);
  expect(await faults()).toEqual([]);
});

/**
 * Returns a table whose first query reads the head after the end of an execution, and misses parts of the output. A query
 * of DynamoDB can read some items before a transaction and others after it (Developer Guide, "Isolation levels for
 * DynamoDB transactions").
 */
function tornTable(table: Table, isMissed: (item: Item) => boolean): Table {
  let queries = 0;
  const torn = interceptTable(table, async (send, command) => {
    const output = (await send()) as { Items?: Item[] };
    if (!(command instanceof QueryCommand) || queries++ > 0) return output;
    return { ...output, Items: output.Items?.filter((item) => !isMissed(item)) };
  });
  return { ...torn, sleep: async () => {} };
}

it.each([
  ['none', 'OUT#'],
  ['all but the last', 'OUT#1'],
  ['all but the first', 'OUT#0'],
])(
  'a read during the end of an execution returns the whole output, if its first query finds %s of the parts',
  async (_, missed) => {
    const leased = await board.leased();
    const output = `${'x'.repeat(300_000)}The end.`;
    await endExecution(board, leased, completed(), { output });
    const torn = tornTable(board.table, ({ sk }) => (sk as string).startsWith(missed));
    const whole = await readExecution({ table: torn }, leased);
    expect(whole?.status).toBe('completed');
    expect(whole?.output === output).toBe(true);
  },
);
