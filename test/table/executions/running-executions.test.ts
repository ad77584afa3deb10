import { beforeEach, describe, expect, it } from 'vitest';
import { updateAgent } from '../../../lib/agents/agents.ts';
import { Conflict } from '../../../lib/table/access/transact.ts';
import { unavailable } from '../../../lib/table/access/unavailable.ts';
import type { RunningExecution } from '../../../lib/table/executions/execution-items.ts';
import {
  endExecution,
  insertExecution,
  readExecutionHead,
  renewLease,
  returnLease,
} from '../../../lib/table/executions/executions.ts';
import { AgentChanged, LeaseLost } from '../../../lib/table/executions/lease-writes.ts';
import { markExecutions } from '../../../lib/table/executions/running-executions.ts';
import { type Step, writeSteps } from '../../../lib/table/executions/steps.ts';
import { watchedTable } from '../fixtures/watched-table.ts';
import { always } from '../tasks/test-table.ts';
import { seedExecutions, seedLists } from './execution-seed.ts';
import { at, completed, createExecutionTable, type ExecutionTable } from './execution-table.ts';

let board: ExecutionTable;
beforeEach(async () => {
  board = await createExecutionTable(1_000);
});

const mark = () => markExecutions(board, { organization: board.organization, agentId: board.agent.id });
const markOf = async (execution: RunningExecution) => (await readExecutionHead(board, execution))?.agentMark;
const progress = { waits: 0, faults: 0, tokens: 5, verdicts: {} };
const toolStep: Step = { number: 2, kind: 'tool', name: 'create_task', startedAt: at(1), callId: 'c', input: '{}' };
const modelStep: Step = { number: 1, kind: 'model', name: 'm', startedAt: at(1) };

describe('a mark', () => {
  it('is on each of 300 running executions of the agent before the response, and on no other', async () => {
    const other = await board.createAgent('other');
    const ofOther = await board.start(board.newExecution({}, other));
    const ended = await board.leased();
    await endExecution(board, ended, completed(), {});
    const before = [await readExecutionHead(board, ofOther), await readExecutionHead(board, ended)];
    const { app, organization, table } = board;
    const running = Array.from({ length: 300 }, () => board.newExecution());
    await seedExecutions(table, organization, running);
    await seedLists(table, running);
    await updateAgent(app, organization, 'writer', { status: 'inactive' }, always, []);
    const marks = await Promise.all(running.map(markOf));
    expect(new Set(marks).size).toBe(1);
    expect(marks[0]).toMatch(/^[\da-f-]{36}$/);
    expect([await readExecutionHead(board, ofOther), await readExecutionHead(board, ended)]).toEqual(before);
  });

  it.each<[string, (execution: RunningExecution) => Promise<unknown>]>([
    ['the end', (execution) => endExecution(board, execution, completed(), {})],
    ['the return of its lease', (execution) => returnLease(board, execution, { until: at(9), dueAt: at(9), progress })],
    ['the end of a tool call', (execution) => writeSteps(board, execution, { ended: toolStep, progress })],
  ])('lets %s fail until the worker knows it', async (_, write) => {
    const execution = await board.leased();
    await mark();
    expect(await board.failureOf(() => write(execution))).toBeInstanceOf(AgentChanged);
    const agentMark = (await markOf(execution)) as string;
    await mark();
    expect(await board.failureOf(() => write({ ...execution, agentMark }))).toBeInstanceOf(AgentChanged);
    await write({ ...execution, agentMark: (await markOf(execution)) as string });
  });

  it('stops neither a renewal nor the record of a paid answer', async () => {
    const execution = await board.leased();
    await mark();
    await renewLease(board, execution, at(45));
    await writeSteps(board, execution, { ended: modelStep, started: toolStep, progress });
    expect(await readExecutionHead(board, execution)).toMatchObject({ leaseUntil: at(45), steps: 2 });
  });

  it('of an execution that has ended or has another lease holder says that the lease is lost', async () => {
    const execution = await board.leased();
    await mark();
    const failure = await board.failureOf(() => endExecution(board, { ...execution, claim: 'old' }, completed(), {}));
    expect(failure).toBeInstanceOf(LeaseLost);
    await endExecution(board, { ...execution, agentMark: (await markOf(execution)) as string }, completed(), {});
    expect(await markOf(execution)).toBeUndefined();
    expect(await board.failureOf(() => endExecution(board, execution, completed(), {}))).toBeInstanceOf(LeaseLost);
  });
});

describe('a start at the same time as the deactivation of its agent', () => {
  /** Deactivates the agent; starts an execution before a request to the table, and returns what became of that. */
  async function startBefore(isIt: (request: { writes: boolean; afterChange: boolean }) => boolean) {
    const execution = board.newExecution();
    let [outcome, afterChange, isStarted] = [undefined as unknown, false, false];
    const { table } = watchedTable(board.table, async ({ writes, names }) => {
      if (!isStarted && isIt({ writes, afterChange })) {
        isStarted = true;
        const input = { dueAt: at(60), task: undefined, recordResponse: undefined };
        const start = insertExecution(board, execution, { input: 'x' }, input);
        outcome = await start.then(({ id }) => id).catch((error: unknown) => error);
      }
      afterChange ||= writes && names('inactive');
    });
    const { app, organization } = board;
    await updateAgent({ ...app, table }, organization, 'writer', { status: 'inactive' }, always, []);
    return { id: execution.id, outcome, markOfStarted: await markOf(execution) };
  }

  it('is marked if it comes before the change', async () => {
    const { id, outcome, markOfStarted } = await startBefore(({ writes }) => writes);
    expect(outcome).toBe(id);
    expect(markOfStarted).toBeDefined();
  });

  it('is rejected if it comes between the change and the marks', async () => {
    const { outcome } = await startBefore(({ afterChange }) => afterChange);
    expect(outcome).toBeInstanceOf(Conflict);
  });
});

it('a change whose marks fail throws an error that says that the agent is changed', async () => {
  let isChanged = false;
  const { table } = watchedTable(board.table, ({ writes }) => {
    if (isChanged && !writes) throw unavailable();
    isChanged ||= writes;
  });
  const { app, organization } = board;
  const message = expect.stringMatching(/^writer is changed, but the service is busy; its running executions/);
  await expect(
    updateAgent({ ...app, table }, organization, 'writer', { status: 'draft' }, always, []),
  ).rejects.toMatchObject({ code: 'unavailable', message, headers: { 'Retry-After': '5' } });
});
