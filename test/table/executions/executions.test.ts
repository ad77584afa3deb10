import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { deleteAgent } from '../../../lib/agents/agents.ts';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { moveOnStart } from '../../../lib/executions/task-moves.ts';
import type { Table } from '../../../lib/table/access/client.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { AlreadyDone, Conflict, transactionLimit } from '../../../lib/table/access/transact.ts';
import type { Item } from '../../../lib/table/access/write.ts';
import { changeAgent, insertAgent } from '../../../lib/table/agents/agents.ts';
import {
  type Ending,
  executionFrom,
  executionPartition,
  type RunningExecution,
} from '../../../lib/table/executions/execution-items.ts';
import { readExecutionPage } from '../../../lib/table/executions/execution-lists.ts';
import {
  endExecution,
  leaseExecution,
  readExecution,
  readExecutionHead,
  readExecutionInput,
} from '../../../lib/table/executions/executions.ts';
import { LeaseLost } from '../../../lib/table/executions/lease-writes.ts';
import { idempotencyRecordWrites, readIdempotencyRecord } from '../../../lib/table/idempotency.ts';
import { postponeDue, readDue } from '../../../lib/table/lists/due.ts';
import { storedAgent } from '../agents/agent-seed.ts';
import { meter } from '../fixtures/capacity.ts';
import { interceptTable } from '../fixtures/intercepted-table.ts';
import { always, errorOf } from '../tasks/test-table.ts';
import { at, completed, createExecutionTable, type ExecutionTable, failed, lease } from './execution-table.ts';

const request = { key: 'k', operation: 'executeAgent', path: '/api/agents/writer/execute', body: {} };
let board: ExecutionTable;
beforeEach(async () => {
  board = await createExecutionTable(2);
});

const recordResponse = (answer: unknown) =>
  idempotencyRecordWrites(board.app, board.organization, request, { data: answer });
const overdue = (until: string) => Array.fromAsync(readDue(board, [executionPartition], until));

/** Returns an execution on a new task, and the move of the task. */
async function newExecutionOnTask() {
  const { id: taskId } = await board.put();
  const execution = board.newExecution({ taskId });
  return { taskId, execution, task: moveOnStart(await board.stored(taskId), execution, false, at(1)) };
}

describe('a start', () => {
  it('writes the execution with its rows and counters, the change of its task and the idempotency record', async () => {
    const { organization, agent } = board;
    const { taskId, execution, task } = await newExecutionOnTask();
    const input = { input: 'Do it.', context: { b: 1, a: 2, constructor: 3 } };
    await board.start(execution, { input, task, recordResponse });

    const { id, startedAt, agentName } = execution;
    expect(await readExecutionHead(board, execution)).toEqual({ ...execution, form: 2, movesTask: true });
    expect(JSON.stringify(await readExecutionInput(board, execution))).toBe(JSON.stringify(input));
    expect(await readExecution(board, execution)).toMatchObject({ id, taskId, input: 'Do it.', agentId: agent.id });
    const page = await readExecutionPage(board, organization, {}, { limit: 20, offset: 0 });
    const startedBy = { kind: 'request' };
    expect(page).toEqual({ items: [{ id, agentName, taskId, status: 'running', startedAt, startedBy }], total: 1 });
    const moved = { status: 'in_progress', owner: id, assignedAgent: 'writer', version: 2, updatedAt: at(1) };
    expect(await board.stored(taskId)).toMatchObject(moved);
    const data = { id, agentName, status: 'running', startedAt };
    expect(await readIdempotencyRecord(board.app, organization, request)).toMatchObject({ data });
    expect(await board.faults()).toEqual([]);
  });

  const setStatus = (status: 'inactive' | 'draft') =>
    changeAgent(board, board.organization, board.agent, { ...board.agent, status, version: 2 });
  const remove = () => deleteAgent(board.app, board.organization, 'writer', always);

  const replace = () => remove().then(() => insertAgent(board, board.organization, storedAgent(), undefined));

  it.each([
    ['set to inactive', () => setStatus('inactive')],
    ['set to draft', () => setStatus('draft')],
    ['deleted', remove],
    ['deleted and created again', replace],
  ])('throws `Conflict` if the agent was %s', async (_, happens) => {
    await happens();
    expect(await board.failureOf(() => board.start())).toBeInstanceOf(Conflict);
  });

  it.each([
    ['changed', (id: string) => board.patch(id, { title: 'Another' })],
    ['deleted', (id: string) => board.remove(id)],
  ])('throws `Conflict` if the task was %s', async (_, happens) => {
    const { taskId, execution, task } = await newExecutionOnTask();
    await happens(taskId);
    expect(await board.failureOf(() => board.start(execution, { task, recordResponse }))).toBeInstanceOf(Conflict);
  });

  it('throws `AlreadyDone` after a duplicate request, even at the cap', async () => {
    await board.start(undefined, { recordResponse });
    expect(await board.failureOf(() => board.start(undefined, { recordResponse }))).toBeInstanceOf(AlreadyDone);
    await board.start();
    expect(await board.failureOf(() => board.start(undefined, { recordResponse }))).toBeInstanceOf(AlreadyDone);
  });

  it('does not replace an execution with the same id', async () => {
    const execution = await board.start();
    expect(await board.failureOf(() => board.start(execution))).toBeInstanceOf(Error);
  });
});

it('the cap rejects a start, and lets exactly one more start succeed after an end', async () => {
  const rateLimited = { code: 'rate_limited', status: 429, headers: { 'Retry-After': '10' } };
  const execution = await board.leased();
  await board.start();
  expect(await board.failureOf(() => board.start(undefined, { recordResponse }))).toMatchObject(rateLimited);
  await endExecution(board, execution, completed(), {});
  await board.start();
  expect(await board.failureOf(() => board.start())).toMatchObject(rateLimited);
});

it('the cap lets two of eight concurrent starts succeed', async () => {
  const errors = await Promise.all(Array.from({ length: 8 }, () => errorOf(board.start())));
  expect(errors.filter((error) => error?.code === 'rate_limited')).toHaveLength(6);
  expect(await board.faults()).toEqual([]);
});

it('an overdue execution is postponed by one of four concurrent callers, which receives the execution', async () => {
  const execution = await board.start();
  expect(await overdue(at(59.999))).toEqual([]);
  const [listed] = await overdue(at(60));
  if (!listed) throw new Error('Nothing is overdue.');
  expect(listed).toEqual({ key: keys.executionHead(board.organization, ulidOf(execution.id)), dueAt: at(60) });
  const moved = await Promise.all(Array.from({ length: 4 }, () => postponeDue(board, listed, at(120))));
  expect(moved.flatMap((item) => (item ? [executionFrom(item)] : []))).toEqual([execution]);
  expect(await overdue(at(119))).toEqual([]);
  expect(await overdue(at(120))).toHaveLength(1);
});

it('an overdue execution is not postponed after a worker has leased or ended it', async () => {
  const execution = await board.start();
  const [before] = await overdue(at(60));
  const leased = await leaseExecution(board, execution, lease('first', 31));
  expect(before && (await board.failureOf(() => postponeDue(board, before, at(120))))).toBeUndefined();
  const [held] = await overdue(at(61));
  expect(held?.dueAt).toBe(at(61));
  if (leased) await endExecution(board, leased, completed(), {});
  expect(held && (await postponeDue(board, held, at(120)))).toBeUndefined();
  expect(await overdue(at(9999))).toEqual([]);
});

/** Returns the error of an end, which must write nothing. */
const failureOfEnd = (execution: RunningExecution, options: Parameters<typeof endExecution>[3] = {}) =>
  board.failureOf(() => endExecution(board, execution, completed(), { output: 'Late.', ...options }));

describe('an end', () => {
  it.each<[string, Ending, string | undefined]>([
    ['as completed', completed(), `${'x'.repeat(300_000)}🙂`],
    ['as completed without a word', completed({ durationMs: 0, tokensUsed: 0 }), ''],
    ['as failed', failed(), undefined],
  ])(
    '%s writes every field, moves rows and counters, and counts one running execution less',
    async (_, ending, output) => {
      const execution = await board.leased();
      await endExecution(board, execution, ending, { output });

      const { claim, leaseUntil, ...kept } = execution;
      const head = await readExecutionHead(board, execution);
      expect(head).toMatchObject({ ...kept, ...ending });
      expect(['claim', 'leaseUntil'].filter((field) => field in (head ?? {}))).toEqual([]);
      const { status, completedAt, durationMs, tokensUsed, selfTest, qaReview, error } = ending;
      const { id, agentName, startedAt } = execution;
      const whole = await readExecution(board, execution);
      expect(whole).toMatchObject({ status, tokensUsed, qualityGates: { selfTest, qaReview }, input: 'Do it.' });
      expect([whole?.output === output, whole?.error]).toEqual([true, error]);
      const results = { tokensUsed, qualityGates: { selfTest, qaReview }, startedBy: { kind: 'request' } };
      const shown = { items: [{ id, agentName, status, startedAt, completedAt, durationMs, ...results }], total: 1 };
      const page = { limit: 20, offset: 0 };
      expect(await readExecutionPage(board, board.organization, { status }, page)).toEqual(shown);
      expect(await Array.fromAsync(readDue(board, [executionPartition], '9999'))).toEqual([]);
      expect(await board.faults()).toEqual([]);
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
    expect(await board.faults()).toEqual([]);
  });

  it('is rejected for a worker whose lease another worker took over, and for one that never had the lease', async () => {
    const never = { ...(await board.start()), claim: 'made-up' };
    expect(await failureOfEnd(never)).toBeInstanceOf(LeaseLost);
    const execution = await board.leased();
    await leaseExecution(board, execution, lease('second', 30));
    expect(await failureOfEnd(execution)).toBeInstanceOf(LeaseLost);
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
    const moved = { status: 'assigned', endedExecution: execution.id, version: 3, updatedAt: at(5) };
    expect(await board.stored(taskId)).toEqual({ ...kept, ...moved });
    expect(await board.faults()).toEqual([]);
  });

  it.each([
    ['changed', () => board.patch(taskId, { title: 'Another' })],
    ['deleted', () => board.remove(taskId)],
  ])('throws `Conflict` if the task was %s, and succeeds without the change', async (_, happens) => {
    const task = await board.release(execution);
    await happens();
    expect(await failureOfEnd(execution, { task })).toBeInstanceOf(Conflict);
    await endExecution(board, execution, completed(), {});
    expect(await board.faults()).toEqual([]);
  });
});

it('the largest start and the largest end are one transaction each', async () => {
  const { transactionsOf } = meter(board.table);
  const { id: taskId } = await board.put({ assignedAgent: 'qa-reviewer', projectId: 'proj_apollo' });
  const request = { key: 'k', operation: 'executeAgent', path: '/', body: {} };
  const recordResponse = (answer: unknown) =>
    idempotencyRecordWrites(board.app, board.organization, request, { data: answer });
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
  expect(await board.faults()).toEqual([]);
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
