import { beforeEach, describe, expect, it } from 'vitest';
import { executeAgent, getExecution, listExecutions } from '../../lib/executions/executions.ts';
import { moveOnStart } from '../../lib/executions/task-moves.ts';
import { endExecution, leaseExecution, renewLease } from '../../lib/table/executions.ts';
import { agents } from './board.ts';
import { meter } from './capacity.ts';
import { expectAtMost } from './cost-limits.ts';
import { at, completed, type ExecutionBoard, lease, openExecutionBoard } from './execution-board.ts';
import { projects } from './model.ts';

let board: ExecutionBoard;
let costOf: ReturnType<typeof meter>['costOf'];
beforeEach(async () => {
  board = await openExecutionBoard();
  ({ costOf } = meter(board.table));
});

const [assignedAgent] = agents;
const [projectId] = projects;

/** An execution that is to take a task on, and how that moves. */
async function onTask(fields: object) {
  const { id: taskId } = await board.put(fields);
  const execution = board.newExecution({ taskId });
  return { execution, task: moveOnStart(await board.stored(taskId), execution, false, at(1)) };
}

describe('a start costs', () => {
  it('one request, and two write units an item: itself, its rows, counters and place, and the look at its agent', async () => {
    expectAtMost(await costOf(() => board.start()), { requests: 1, rcu: 0, wcu: 20 });
  });

  it('a read of its agent before', async () => {
    const start = () => executeAgent(board, board.organization, 'writer', { input: 'Do it.' }, undefined);
    expectAtMost(await costOf(start), { requests: 2, rounds: 2, rcu: 1, wcu: 20 });
  });

  it.each([
    ['bare', {}, 14],
    ['of an agent', { assignedAgent }, 14],
    ['of a project', { projectId }, 26],
    ['of both', { assignedAgent, projectId }, 26],
  ])('what its task’s move costs beside it, a task %s', async (_, fields, wcu) => {
    const { execution, task } = await onTask(fields);
    expectAtMost(await costOf(() => board.start(execution, { task })), { requests: 1, rcu: 0, wcu: 20 + wcu });
  });
});

describe('a worker costs', () => {
  it('one request and one write unit to lease and to renew', async () => {
    const execution = await board.start();
    expectAtMost(await costOf(() => leaseExecution(board, execution, lease('first'))), {
      requests: 1,
      rcu: 0,
      wcu: 1,
    });
    const leased = { ...execution, claim: 'first' };
    expectAtMost(await costOf(() => renewLease(board, leased, at(40))), { requests: 1, rcu: 0, wcu: 1 });
  });

  it.each([
    [0, 22],
    [900, 24],
    [100_000, 22 + 2 * 98],
  ])('one request and two write units an item and kilobyte to end, with an output of %i bytes', async (bytes, wcu) => {
    const leased = await board.leased();
    const end = () => endExecution(board, leased, completed(), { output: 'x'.repeat(bytes) });
    expectAtMost(await costOf(end), { requests: 1, rcu: 0, wcu });
  });

  it('what the task’s move costs beside it', async () => {
    const { execution, task } = await onTask({ assignedAgent, projectId });
    const leased = await board.leased(await board.start(execution, { task }));
    const release = await board.release(leased);
    const end = () => endExecution(board, leased, completed(), { task: release });
    expectAtMost(await costOf(end), { requests: 1, rcu: 0, wcu: 22 + 26 });
  });
});

it.each([0, 10_000, 300_000])(
  'a read costs two requests and two read units, and the %i bytes of its output',
  async (bytes) => {
    const leased = await board.leased();
    await endExecution(board, leased, completed(), { output: 'x'.repeat(bytes) });
    const cost = await costOf(() => getExecution(board, board.organization, 'writer', leased.id));
    expectAtMost(cost, { requests: 2, rounds: 1, rcu: 2 + Math.ceil(bytes / 4096), wcu: 0 });
  },
);

describe('a list costs at most four requests and ten read units', () => {
  it.each([
    ['of all', {}],
    ['of a status', { status: 'running' as const }],
    ['of an agent', { agentName: 'writer' }],
    ['of an agent and a status', { agentName: 'writer', status: 'running' as const }],
  ])('%s, at the start and behind it', async (_, filter) => {
    await Promise.all(Array.from({ length: 45 }, () => board.start()));
    for (const offset of [0, 20]) {
      const pages: number[] = [];
      const list = async () => {
        const page = await listExecutions(board, board.organization, filter, { limit: 20, offset });
        pages.push(page.items.length, page.total);
      };
      expectAtMost(await costOf(list), { requests: 4, rounds: 3, rcu: 10, wcu: 0 });
      expect(pages).toEqual([20, 45]);
    }
  });
});
