import { ulid } from 'ulid';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { timestamp } from '../../lib/contract/ids.ts';
import type { NewTask } from '../../lib/contract/tasks.ts';
import { findDifferences } from '../../lib/reconcile/differences.ts';
import { openTable } from '../../lib/table/client.ts';
import { mostShards, quietShards } from '../../lib/table/shards.ts';
import { createTask, updateTask } from '../../lib/tasks/tasks.ts';
import { lockWindowMs, openConflictingEngine } from '../bench/conflicting-engine.ts';
import { type Random, randomFrom } from '../soak/random.ts';
import { agents, always, newTask, openBoard } from './board.ts';
import { projects } from './model.ts';
import { faultsOf } from './oracle.ts';
import { bareTasks, seed } from './seed.ts';
import { type VirtualTime, virtualTime } from './virtual-time.ts';

const writesOfEach = 15;

/** Writers, and how long each rests between two writes, on average, in ms. */
type Load = { writers: number; restMs: number };

/** 32 writes a second, of writers who seldom meet. */
const quiet: Load = { writers: 32, restMs: 1_000 };

/** 250 writes a second: as many new tasks as a partition of DynamoDB takes rows of, at 1,000 write units a second. */
const busy: Load = { writers: 100, restMs: 400 };

/** The goal, in tries a transaction. */
const goal = 1.3;

/** How many writes hold one of so many shards, on average. */
const heldBy = ({ writers, restMs }: Load, shards: number) => (writers / restMs) * (lockWindowMs / shards);

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

/** A board whose transactions hold their items for the lock window, in virtual time. */
async function contendedBoard() {
  const board = await openBoard();
  const engine = await openConflictingEngine(board.engine, async (carriedOut) => {
    await carriedOut;
    await time.sleep(lockWindowMs);
  });
  onTestFinished(engine.stop);
  const { table } = board;
  /** The context of a container of its own, which knows only the conflicts that it had itself. */
  const container = () => {
    const own = { ...openTable(table.name, engine.endpoint), sleep: time.sleep };
    onTestFinished(() => own.client.destroy());
    return { table: own, ulid: () => ulid(board.clock(), random), clock: board.clock };
  };
  return { ...board, engine, container };
}

/**
 * Has writers, each in a container of its own, write with rests in between, and answers how often their transactions
 * were tried.
 */
async function attemptsOf(
  { engine, container }: Awaited<ReturnType<typeof contendedBoard>>,
  { writers, restMs }: Load,
  write: (context: ReturnType<typeof container>) => Promise<unknown>,
) {
  const rest = () => time.sleep(-Math.log(1 - random()) * restMs);
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
  ['of nobody', {}],
  ['of one agent and project', { assignedAgent, projectId }],
];

describe.each([
  ['32 writers who seldom meet', quiet],
  ['100 writers who would always meet in four lanes', busy],
])('%s', (_, load) => {
  it.each(kinds)('try the creates of tasks %s no more than 1.3 times, and every one is counted', async (_, fields) => {
    const board = await contendedBoard();
    const create = (context: ReturnType<typeof board.container>) =>
      createTask(context, board.organization, newTask(fields), undefined);
    const { attempts } = await attemptsOf(board, load, create);
    expect(attempts).toHaveLength(load.writers * writesOfEach);
    expect(mean(attempts)).toBeLessThanOrEqual(goal);
    // So seldom that no shard is ever met held would mean that none was.
    expect(mean(attempts)).toBeGreaterThan(1 + heldBy(load, mostShards));
    expect(await faultsOf(board.table, board.organization)).toEqual([]);
    expect(await findDifferences(board.table, board.organization, timestamp(0))).toEqual([]);
  });

  it('try the moves of tasks of their own as seldom', async () => {
    const board = await contendedBoard();
    const made = bareTasks(load.writers * writesOfEach, () => board.clock(), random);
    await seed(board.table, board.organization, made);
    const move = (context: ReturnType<typeof board.container>) =>
      updateTask(context, board.organization, made.pop()?.id as string, { status: 'done' }, always);
    const { attempts } = await attemptsOf(board, load, move);
    expect(mean(attempts)).toBeLessThanOrEqual(goal);
    expect(mean(attempts)).toBeGreaterThan(1 + heldBy(load, mostShards));
    expect(await faultsOf(board.table, board.organization)).toEqual([]);
  });
});

it('four lanes would not do for 250 writes a second', () => {
  expect(heldBy(busy, quietShards)).toBeGreaterThan(1);
});
