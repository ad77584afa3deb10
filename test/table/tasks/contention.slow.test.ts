import { ulid } from 'ulid';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { NewTask } from '../../../lib/contract/tasks/tasks.ts';
import { openTable } from '../../../lib/table/access/client.ts';
import { maxShards, shardsAfterConflict } from '../../../lib/table/access/shards.ts';
import { createTask, updateTask } from '../../../lib/tasks/tasks.ts';
import { lockWindowMs, startConflictingTable } from '../../bench/writes/conflicting-table.ts';
import { type Random, randomFrom } from '../../soak/random.ts';
import { createVirtualTime, type VirtualTime } from '../../virtual-time.ts';
import { projects } from './model.ts';
import { bareTasks, seed } from './seed.ts';
import { agents, always, createTestTable, newTask } from './test-table.ts';

const writesOfEach = 15;

/** The number of writers, and the average pause of each between two writes in ms. */
type Load = { writers: number; pauseMs: number };

/** 32 writes a second: conflicts are rare. */
const quiet: Load = { writers: 32, pauseMs: 1_000 };

/** 250 writes a second: the most new tasks that one partition of DynamoDB can list, at 1,000 write units a second. */
const busy: Load = { writers: 100, pauseMs: 400 };

/** The most tries of a transaction, on average. */
const goal = 1.3;

/** Returns how many writes use one shard at the same time, on average. */
const writersOfShard = ({ writers, pauseMs }: Load, shards: number) => (writers / pauseMs) * (lockWindowMs / shards);

let time: VirtualTime;
let random: Random;
beforeEach(() => {
  time = createVirtualTime();
  random = randomFrom(1);
  vi.spyOn(Math, 'random').mockImplementation(random);
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Creates a table whose transactions lock their items for the lock window, in virtual time. */
async function createContendedTable() {
  const board = await createTestTable();
  const conflicting = await startConflictingTable(board.table, async (carriedOut) => {
    await carriedOut;
    await time.sleep(lockWindowMs);
  });
  onTestFinished(conflicting.stop);
  const { table } = board;
  /** Creates the context of another container, which knows only its own conflicts. */
  const container = () => {
    const own = { ...openTable(table.name, conflicting.endpoint), sleep: time.sleep };
    onTestFinished(() => own.client.destroy());
    return { table: own, ulid: () => ulid(board.clock(), random), clock: board.clock };
  };
  return { ...board, conflicting, container };
}

/** Runs the writers of a load, each in its own container, and checks the tries of their transactions and the items. */
async function expectFewTries(
  { conflicting, container, faults }: Awaited<ReturnType<typeof createContendedTable>>,
  load: Load,
  write: (context: ReturnType<typeof container>) => Promise<unknown>,
): Promise<void> {
  const { writers, pauseMs } = load;
  const rest = () => time.sleep(-Math.log(1 - random()) * pauseMs);
  const writer = async () => {
    const context = container();
    for (let nth = 0; nth < writesOfEach; nth++) {
      await rest();
      await write(context);
    }
    time.leave();
  };
  for (let nth = 0; nth < writers; nth++) time.join();
  await Promise.all(Array.from({ length: writers }, writer));
  const { attempts } = conflicting.take();
  expect(attempts).toHaveLength(writers * writesOfEach);
  const mean = attempts.reduce((sum, one) => sum + one, 0) / attempts.length;
  expect(mean).toBeLessThanOrEqual(goal);
  // Fewer tries would mean that the table locked nothing.
  expect(mean).toBeGreaterThan(1 + writersOfShard(load, maxShards));
  expect(await faults()).toEqual([]);
}

const kinds: [string, Partial<NewTask>][] = [
  ['without an agent', {}],
  ['of one agent and project', { assignedAgent: agents[0], projectId: projects[0] }],
];

describe.each([
  ['32 writers with rare conflicts', quiet],
  ['100 writers, too many for four shards', busy],
])('%s', (_, load) => {
  it.each(kinds)('try to create a task %s at most 1.3 times on average', async (_, fields) => {
    const board = await createContendedTable();
    const create = (context: ReturnType<typeof board.container>) =>
      createTask(context, board.organization, newTask(fields), undefined);
    await expectFewTries(board, load, create);
  });

  it('try to change the status of their own tasks at most 1.3 times on average', async () => {
    const board = await createContendedTable();
    const made = bareTasks(load.writers * writesOfEach, () => board.clock(), random);
    await seed(board.table, board.organization, made);
    const move = (context: ReturnType<typeof board.container>) =>
      updateTask(context, board.organization, made.pop()?.id as string, { status: 'done' }, always);
    await expectFewTries(board, load, move);
  });
});

it('four shards are too few for 250 writes a second', () => {
  expect(writersOfShard(busy, shardsAfterConflict)).toBeGreaterThan(1);
});
