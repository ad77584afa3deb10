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
import { getItem } from '../../../lib/table/reads.ts';
import { AlreadyDone, Conflict } from '../../../lib/table/transact.ts';
import { deleteTask, updateTask } from '../../../lib/tasks/tasks.ts';
import { dumpOf } from '../../table-dump.ts';
import { storedAgent } from '../agents/agent-seed.ts';
import { faultsOf } from '../tasks/oracle.ts';
import { always, errorOf } from '../tasks/test-table.ts';
import { at, completed, createExecutionTable, type ExecutionTable, lease } from './execution-table.ts';

const request = { key: 'k', operation: 'executeAgent', path: '/api/agents/writer/execute', body: {} };
const firstPage = { limit: 20, offset: 0 };
let board: ExecutionTable;
beforeEach(async () => {
  board = await createExecutionTable(2);
});

const dump = () => dumpOf(board.table, board.organization);
const onceFor = (answer: unknown) => idempotencyRecordWrite(board.app, board.organization, request, answer);
const running = async () => (await getItem(board.table, keys.running(board.organization)))?.running;

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

describe('a start', () => {
  it('writes the execution with its rows and counters, the change of its task and the idempotency record', async () => {
    const { organization, agent, newExecution } = board;
    const { id: taskId } = await board.put();
    const execution = newExecution({ taskId });
    const task = moveOnStart(await board.stored(taskId), execution, false, at(1));
    const input = { input: 'Do it.', context: { b: 1, a: 2, constructor: 3 } };
    await board.start(execution, { input, task, recordResponse: onceFor });

    const { id, startedAt, agentName } = execution;
    expect(await readExecutionHead(board, execution)).toEqual(execution);
    expect(JSON.stringify(await readExecutionInput(board, execution))).toBe(JSON.stringify(input));
    expect(await readExecution(board, execution)).toMatchObject({ id, taskId, input: 'Do it.', agentId: agent.id });
    expect(await running()).toBe(1);
    const shown = { id, agentName, taskId, status: 'running', startedAt };
    for (const filter of [{}, { agentId: agent.id }, { status: 'running' as const }])
      expect(await readExecutionPage(board, organization, filter, firstPage)).toEqual({ items: [shown], total: 1 });
    expect(await board.stored(taskId)).toMatchObject({
      ...{ status: 'in_progress', owner: id, assignedAgent: 'writer', version: 2, updatedAt: at(1) },
    });
    expect(await readIdempotencyRecord(board.app, organization, request)).toMatchObject({
      data: { id, agentName, status: 'running', startedAt },
    });
    expect(await faultsOf(board.table, organization)).toEqual([]);
  });

  it.each(['inactive', 'draft'] as const)('throws `Conflict` if the agent was set to %s', async (status) => {
    const { agent, organization } = board;
    await changeAgent(board, organization, agent, { ...agent, status, version: 2 });
    expect(await failureOf(() => board.start())).toBeInstanceOf(Conflict);
  });

  it('throws `Conflict` if the agent was deleted', async () => {
    await deleteAgent(board.app, board.organization, 'writer', always);
    expect(await failureOf(() => board.start())).toBeInstanceOf(Conflict);
  });

  it('throws `Conflict` if the agent was deleted and created again', async () => {
    const { agent, organization } = board;
    await deleteAgent(board.app, organization, 'writer', always);
    await insertAgent(board, organization, storedAgent({ name: 'writer' }), undefined);
    expect(await failureOf(() => board.start(board.newExecution({}, agent)))).toBeInstanceOf(Conflict);
  });

  it('throws `Conflict` if the task was changed', async () => {
    const { id } = await board.put();
    const execution = board.newExecution({ taskId: id });
    const task = moveOnStart(await board.stored(id), execution, false, at(1));
    await updateTask(board, board.organization, id, { title: 'Another' }, always);
    expect(await failureOf(() => board.start(execution, { task, recordResponse: onceFor }))).toBeInstanceOf(Conflict);
  });

  it('throws `Conflict` if the task was deleted', async () => {
    const { id } = await board.put();
    const execution = board.newExecution({ taskId: id });
    const task = moveOnStart(await board.stored(id), execution, false, at(1));
    await deleteTask(board, board.organization, id, always);
    expect(await failureOf(() => board.start(execution, { task }))).toBeInstanceOf(Conflict);
  });

  it('throws `AlreadyDone` after a duplicate request, even at the cap', async () => {
    await board.start(undefined, { recordResponse: onceFor });
    expect(await failureOf(() => board.start(undefined, { recordResponse: onceFor }))).toBeInstanceOf(AlreadyDone);
    await board.start();
    expect(await failureOf(() => board.start(undefined, { recordResponse: onceFor }))).toBeInstanceOf(AlreadyDone);
  });

  it('does not replace an execution with the same id', async () => {
    const execution = await board.start();
    expect(await failureOf(() => board.start(execution))).toBeInstanceOf(Error);
  });
});

describe('the cap', () => {
  const refused = () => failureOf(() => board.start(undefined, { recordResponse: onceFor }));
  const rateLimited = { code: 'rate_limited', status: 429, headers: { 'Retry-After': '10' } };

  it('rejects a start at the cap, and writes nothing', async () => {
    await board.start();
    await board.start();
    expect(await refused()).toMatchObject(rateLimited);
  });

  it('lets exactly one more start succeed after an end', async () => {
    const execution = await board.leased();
    await board.start();
    await endExecution(board, execution, completed(), {});
    await board.start();
    expect(await refused()).toMatchObject(rateLimited);
  });

  it('lets two of eight concurrent starts succeed', async () => {
    const errors = await Promise.all(Array.from({ length: 8 }, () => errorOf(board.start())));
    expect(errors.filter((error) => error?.code === 'rate_limited')).toHaveLength(6);
    expect(await running()).toBe(2);
    expect(await faultsOf(board.table, board.organization)).toEqual([]);
  });
});

describe('an overdue execution', () => {
  it('is postponed by one of four concurrent callers, which receives the execution', async () => {
    const execution = await board.start();
    const [overdue] = await Array.fromAsync(readDue(board, [executionPartition], at(60)));
    if (!overdue) throw new Error('Nothing is overdue.');
    expect(overdue.key).toEqual(keys.executionHead(board.organization, ulidOf(execution.id)));
    const moved = await Promise.all(Array.from({ length: 4 }, () => postponeDue(board, overdue, at(120))));
    expect(moved.flatMap((item) => (item ? [executionFrom(item)] : []))).toEqual([execution]);
    expect(await Array.fromAsync(readDue(board, [executionPartition], at(119)))).toEqual([]);
    expect(await Array.fromAsync(readDue(board, [executionPartition], at(120)))).toHaveLength(1);
  });

  it('is not postponed after a worker has leased or ended it', async () => {
    const execution = await board.start();
    const [before] = await Array.fromAsync(readDue(board, [executionPartition], at(60)));
    const leased = await leaseExecution(board, execution, lease('first'));
    expect(before && (await failureOf(() => postponeDue(board, before, at(120))))).toBeUndefined();
    const [held] = await Array.fromAsync(readDue(board, [executionPartition], at(60)));
    expect(held?.dueAt).toBe(at(30));
    if (leased) await endExecution(board, leased, completed(), {});
    expect(held && (await postponeDue(board, held, at(120)))).toBeUndefined();
    expect(await Array.fromAsync(readDue(board, [executionPartition], at(9999)))).toEqual([]);
  });
});
