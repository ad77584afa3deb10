import { beforeEach, describe, expect, it } from 'vitest';
import { deleteAgent } from '../../../lib/agents/agents.ts';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { moveOnStart } from '../../../lib/executions/task-moves.ts';
import { changeAgent, insertAgent } from '../../../lib/table/agents/agents.ts';
import { executionFrom, executionPartition } from '../../../lib/table/executions/execution-items.ts';
import {
  endExecution,
  leaseExecution,
  readExecution,
  readExecutionHead,
  readExecutionInput,
  readExecutionPage,
} from '../../../lib/table/executions/executions.ts';
import { idempotencyRecordWrite, readIdempotencyRecord } from '../../../lib/table/idempotency.ts';
import { keys } from '../../../lib/table/keys.ts';
import { postponeDue, readDue } from '../../../lib/table/lists/due.ts';
import { AlreadyDone, Conflict } from '../../../lib/table/transact.ts';
import { deleteTask, updateTask } from '../../../lib/tasks/tasks.ts';
import { dumpOf } from '../../table-dump.ts';
import { storedAgent } from '../agents/agent-seed.ts';
import { faultsOf } from '../tasks/oracle.ts';
import { always, errorOf } from '../tasks/test-table.ts';
import { at, completed, createExecutionTable, type ExecutionTable, lease } from './execution-table.ts';

const request = { key: 'k', operation: 'executeAgent', path: '/api/agents/writer/execute', body: {} };
let board: ExecutionTable;
beforeEach(async () => {
  board = await createExecutionTable(2);
});

const dump = () => dumpOf(board.table, board.organization);
const recordResponse = (answer: unknown) => idempotencyRecordWrite(board.app, board.organization, request, answer);
const overdue = (until: string) => Array.fromAsync(readDue(board, [executionPartition], until));

/** Returns the error of a call, which must write nothing. */
async function failureOf(attempt: () => Promise<unknown>): Promise<unknown> {
  const before = await dump();
  const failure = await attempt().then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(await dump()).toEqual(before);
  return failure;
}

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
    expect(await readExecutionHead(board, execution)).toEqual(execution);
    expect(JSON.stringify(await readExecutionInput(board, execution))).toBe(JSON.stringify(input));
    expect(await readExecution(board, execution)).toMatchObject({ id, taskId, input: 'Do it.', agentId: agent.id });
    const shown = { id, agentName, taskId, status: 'running', startedAt };
    const page = { limit: 20, offset: 0 };
    for (const filter of [{}, { agentId: agent.id }, { status: 'running' as const }])
      expect(await readExecutionPage(board, organization, filter, page)).toEqual({ items: [shown], total: 1 });
    const moved = { status: 'in_progress', owner: id, assignedAgent: 'writer', version: 2, updatedAt: at(1) };
    expect(await board.stored(taskId)).toMatchObject(moved);
    const data = { id, agentName, status: 'running', startedAt };
    expect(await readIdempotencyRecord(board.app, organization, request)).toMatchObject({ data });
    expect(await faultsOf(board.table, organization)).toEqual([]);
  });

  const setStatus = (status: 'inactive' | 'draft') =>
    changeAgent(board, board.organization, board.agent, { ...board.agent, status, version: 2 });
  const remove = () => deleteAgent(board.app, board.organization, 'writer', always);

  it.each([
    ['set to inactive', () => setStatus('inactive')],
    ['set to draft', () => setStatus('draft')],
    ['deleted', remove],
    [
      'deleted and created again',
      () => remove().then(() => insertAgent(board, board.organization, storedAgent(), undefined)),
    ],
  ])('throws `Conflict` if the agent was %s', async (_, happens) => {
    await happens();
    expect(await failureOf(() => board.start())).toBeInstanceOf(Conflict);
  });

  it.each([
    ['changed', (id: string) => updateTask(board, board.organization, id, { title: 'Another' }, always)],
    ['deleted', (id: string) => deleteTask(board, board.organization, id, always)],
  ])('throws `Conflict` if the task was %s', async (_, happens) => {
    const { taskId, execution, task } = await newExecutionOnTask();
    await happens(taskId);
    expect(await failureOf(() => board.start(execution, { task, recordResponse }))).toBeInstanceOf(Conflict);
  });

  it('throws `AlreadyDone` after a duplicate request, even at the cap', async () => {
    await board.start(undefined, { recordResponse });
    expect(await failureOf(() => board.start(undefined, { recordResponse }))).toBeInstanceOf(AlreadyDone);
    await board.start();
    expect(await failureOf(() => board.start(undefined, { recordResponse }))).toBeInstanceOf(AlreadyDone);
  });

  it('does not replace an execution with the same id', async () => {
    const execution = await board.start();
    expect(await failureOf(() => board.start(execution))).toBeInstanceOf(Error);
  });
});

describe('the cap', () => {
  it('rejects a start at the cap, and lets exactly one more start succeed after an end', async () => {
    const rateLimited = { code: 'rate_limited', status: 429, headers: { 'Retry-After': '10' } };
    const execution = await board.leased();
    await board.start();
    expect(await failureOf(() => board.start(undefined, { recordResponse }))).toMatchObject(rateLimited);
    await endExecution(board, execution, completed(), {});
    await board.start();
    expect(await failureOf(() => board.start())).toMatchObject(rateLimited);
  });

  it('lets two of eight concurrent starts succeed', async () => {
    const errors = await Promise.all(Array.from({ length: 8 }, () => errorOf(board.start())));
    expect(errors.filter((error) => error?.code === 'rate_limited')).toHaveLength(6);
    expect(await faultsOf(board.table, board.organization)).toEqual([]);
  });
});

describe('an overdue execution', () => {
  it('is postponed by one of four concurrent callers, which receives the execution', async () => {
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

  it('is not postponed after a worker has leased or ended it', async () => {
    const execution = await board.start();
    const [before] = await overdue(at(60));
    const leased = await leaseExecution(board, execution, lease('first'));
    expect(before && (await failureOf(() => postponeDue(board, before, at(120))))).toBeUndefined();
    const [held] = await overdue(at(60));
    expect(held?.dueAt).toBe(at(30));
    if (leased) await endExecution(board, leased, completed(), {});
    expect(held && (await postponeDue(board, held, at(120)))).toBeUndefined();
    expect(await overdue(at(9999))).toEqual([]);
  });
});
