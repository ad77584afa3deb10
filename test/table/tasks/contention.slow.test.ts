import { ulid } from 'ulid';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { NewTask } from '../../../lib/contract/tasks.ts';
import { openTable } from '../../../lib/table/client.ts';
import { defaultShards, maxShards } from '../../../lib/table/lists/shards.ts';
import { createTask, updateTask } from '../../../lib/tasks/tasks.ts';
import { lockWindowMs, startConflictingEngine } from '../../bench/conflicting-engine.ts';
import { type Random, randomFrom } from '../../soak/random.ts';
import { type VirtualTime, virtualTime } from '../fixtures/virtual-time.ts';
import { projects } from './model.ts';
import { faultsOf } from './oracle.ts';
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
  time = virtualTime();
  random = randomFrom(1);
  vi.spyOn(Math, 'random').mockImplementation(random);
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Creates a table whose transactions lock their items for the lock window, in virtual time. */
async function createContendedTable() {
  const board = await createTestTable();
  const engine = await startConflictingEngine(board.engine, async (carriedOut) => {
    await carriedOut;
    await time.sleep(lockWindowMs);
  });
  onTestFinished(engine.stop);
  const { table } = board;
  /** Creates the context of another container, which knows only its own conflicts. */
  const container = () => {
    const own = { ...openTable(table.name, engine.endpoint), sleep: time.sleep };
    onTestFinished(() => own.client.destroy());
    return { table: own, ulid: () => ulid(board.clock(), random), clock: board.clock };
  };
  return { ...board, engine, container };
}

/** Runs the writers of a load, each in its own container, and returns the number of tries of each transaction. */
async function attemptsOf(
  { engine, container }: Awaited<ReturnType<typeof createContendedTable>>,
  { writers, pauseMs }: Load,
  write: (context: ReturnType<typeof container>) => Promise<unknown>,
) {
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
  return engine.take();
}

const mean = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

const [assignedAgent] = agents;
const [projectId] = projects;

const kinds: [string, Partial<NewTask>][] = [
  ['without an agent', {}],
  ['of one agent and project', { assignedAgent, projectId }],
];

describe.each([
  ['32 writers with rare conflicts', quiet],
  ['100 writers, too many for four shards', busy],
])('%s', (_, load) => {
  it.each(kinds)(
    'try to create a task %s at most 1.3 times on average, and each task is counted',
    async (_, fields) => {
      const board = await createContendedTable();
      const create = (context: ReturnType<typeof board.container>) =>
        createTask(context, board.organization, newTask(fields), undefined);
      const { attempts } = await attemptsOf(board, load, create);
      expect(attempts).toHaveLength(load.writers * writesOfEach);
      expect(mean(attempts)).toBeLessThanOrEqual(goal);
      // Fewer tries would mean that the engine locked nothing.
      expect(mean(attempts)).toBeGreaterThan(1 + writersOfShard(load, maxShards));
      expect(await faultsOf(board.table, board.organization)).toEqual([]);
    },
  );

  it('try to change the status of their own tasks at most 1.3 times on average', async () => {
    const board = await createContendedTable();
    const made = bareTasks(load.writers * writesOfEach, () => board.clock(), random);
    await seed(board.table, board.organization, made);
    const move = (context: ReturnType<typeof board.container>) =>
      updateTask(context, board.organization, made.pop()?.id as string, { status: 'done' }, always);
    const { attempts } = await attemptsOf(board, load, move);
    expect(mean(attempts)).toBeLessThanOrEqual(goal);
    expect(mean(attempts)).toBeGreaterThan(1 + writersOfShard(load, maxShards));
    expect(await faultsOf(board.table, board.organization)).toEqual([]);
  });
});

it('four shards are too few for 250 writes a second', () => {
  expect(writersOfShard(busy, defaultShards)).toBeGreaterThan(1);
});
