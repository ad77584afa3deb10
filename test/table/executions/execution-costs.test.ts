import { beforeEach, describe, expect, it } from 'vitest';
import { getExecution, listExecutions } from '../../../lib/executions/executions.ts';
import { moveOnStart } from '../../../lib/executions/task-moves.ts';
import { endExecution } from '../../../lib/table/executions/executions.ts';
import { meter } from '../fixtures/capacity.ts';
import { expectAtMost } from '../fixtures/cost-limits.ts';
import { projects } from '../tasks/model.ts';
import { agents } from '../tasks/test-table.ts';
import { at, completed, createExecutionTable, type ExecutionTable } from './execution-table.ts';

let board: ExecutionTable;
let costOf: ReturnType<typeof meter>['costOf'];
beforeEach(async () => {
  board = await createExecutionTable();
  ({ costOf } = meter(board.table));
});

const [assignedAgent] = agents;
const [projectId] = projects;

// test/costs measures simple requests exactly. These tests limit requests with several parts.

describe('an execution on a task with an agent and a project costs', () => {
  async function createExecution() {
    const { id: taskId } = await board.put({ assignedAgent, projectId });
    const execution = board.newExecution({ taskId });
    return { execution, task: moveOnStart(await board.stored(taskId), execution, false, at(1)) };
  }

  it('one request and two write units for each item to start', async () => {
    const { execution, task } = await createExecution();
    expectAtMost(await costOf(() => board.start(execution, { task })), { requests: 1, rcu: 0, wcu: 20 + 26 });
  });

  it('one request and two write units for each item and each kilobyte of the output to end', async () => {
    const { execution, task } = await createExecution();
    const leased = await board.leased(await board.start(execution, { task }));
    const change = await board.release(leased);
    const end = () => endExecution(board, leased, completed(), { output: 'x'.repeat(100_000), task: change });
    expectAtMost(await costOf(end), { requests: 1, rcu: 0, wcu: 22 + 26 + 2 * 98 });
  });
});

it('a read costs two requests, two read units, and a read unit for each 4 KB of the output', async () => {
  const bytes = 300_000;
  const leased = await board.leased();
  await endExecution(board, leased, completed(), { output: 'x'.repeat(bytes) });
  const cost = await costOf(() => getExecution(board, board.organization, 'writer', leased.id));
  expectAtMost(cost, { requests: 2, rounds: 1, rcu: 2 + Math.ceil(bytes / 4096), wcu: 0 });
});

it('a list of an agent and a status costs at most four requests and ten read units', async () => {
  await Promise.all(Array.from({ length: 45 }, () => board.start()));
  const filter = { agentName: 'writer', status: 'running' } as const;
  for (const offset of [0, 20]) {
    const list = () => listExecutions(board, board.organization, filter, { limit: 20, offset });
    expectAtMost(await costOf(list), { requests: 4, rounds: 3, rcu: 10, wcu: 0 });
    const { items, total } = await list();
    expect([items.length, total]).toEqual([20, 45]);
  }
});
