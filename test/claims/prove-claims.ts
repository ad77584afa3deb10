import { openLocalTable } from '../../infra/local/table/local-table.ts';
import { type Context, createContext } from '../../lib/context/context.ts';
import { ApiError } from '../../lib/contract/errors.ts';
import { timestamp, ulidFrom } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { Task } from '../../lib/contract/tasks/tasks.ts';
import { openTable } from '../../lib/table/access/client.ts';
import { readTasks } from '../../lib/table/tasks/tasks.ts';
import { claimTask, type NewClaim, releaseTask, renewClaim, takeBackTask } from '../../lib/tasks/claims.ts';
import { sweepTasks } from '../../lib/tasks/due-tasks.ts';
import { claimNextTask } from '../../lib/tasks/ready-tasks.ts';
import { createTask } from '../../lib/tasks/tasks.ts';
import { lockWindowMs, startConflictingTable } from '../bench/writes/conflicting-table.ts';
import { between, oneOf, type Random, randomFrom } from '../soak/random.ts';
import { createVirtualTime, type VirtualTime } from '../virtual-time.ts';
import { meterUnits } from './units.ts';

/** How many workers take how many tasks; the seed draws what happens to them. */
export type Plan = { workers: number; tasks: number; seed: number };

/** What came of it. `wrong` has a sentence for each violation. */
export type ClaimProof = {
  claims: number;
  renewals: number;
  released: number;
  /** How many claims ended because their worker was killed, its answer was lost, or it was late. */
  killed: number;
  lostAnswers: number;
  late: number;
  stopped: number;
  /** Transactions that DynamoDB would have cancelled because of another one, and tried again. */
  conflicts: number;
  /** Read and write units of a request for the next task that took one, on average, with all that it tried in vain. */
  unitsForEachClaim: number;
  /** The simulated time, in seconds. */
  seconds: number;
  wrong: string[];
};

const organization = 'local' as Organization;
const beginning = Date.UTC(2026, 0, 1);
const secondMs = 1_000;

/** The time in which a worker has had a task, by the clock of the service (Unix times, in ms). */
type Holding = { task: string; claim: string; from: number; until: number };

/**
 * Lets many workers take the tasks of a board until all are done. Each worker has a process of its own, and transactions conflict as
 * in DynamoDB. Workers are killed while they hold a claim, lose the answers to their requests, and go on after their claims are
 * over. Time is simulated.
 */
export async function proveClaims({ workers, tasks, seed }: Plan): Promise<ClaimProof> {
  const random = randomFrom(seed);
  const time = createVirtualTime();
  const clock = () => beginning + Math.floor(time.now());
  const local = openLocalTable({ path: ':memory:', tableName: 'board', kinds: [] });
  const conflicting = await startConflictingTable(local.table, async (carriedOut) => {
    await carriedOut;
    await time.sleep(lockWindowMs);
  });
  const randomBytes = () => Uint8Array.from({ length: 10 }, () => between(random, 0, 255));
  const processOf = () => {
    const table = { ...openTable('board', conflicting.endpoint), sleep: time.sleep };
    return { ...createContext({ environment: {}, clock, table }), ulid: () => ulidFrom(clock(), randomBytes()) };
  };

  const own = { ...processOf(), table: local.table };
  const ids: string[] = [];
  for (let nth = 0; nth < tasks; nth++) ids.push(await newTask(own, nth, random));
  const board = createBoard({ ids, context: own, random, time });
  const processes = Array.from({ length: workers }, processOf);
  for (let nth = 0; nth < workers + 1; nth++) time.join();
  await Promise.all([...processes.map((context, nth) => board.work(context, `worker ${nth}`)), board.look()]);

  const left = await unfinished(own, ids);
  const { attempts } = conflicting.take();
  conflicting.stop();
  for (const { table } of processes) table.client.destroy();
  await local.close();
  const { holdings, counts, unitsForEach } = board;
  return {
    ...counts,
    claims: holdings.length,
    conflicts: attempts.reduce((sum, tries) => sum + tries - 1, 0),
    unitsForEachClaim: unitsForEach(),
    seconds: Math.round(time.now() / secondMs),
    wrong: [...overlapsOf(holdings), ...left],
  };
}

async function newTask(context: Context, nth: number, random: Random): Promise<string> {
  const priority = oneOf(random, ['low', 'medium', 'high', 'critical'] as const);
  const fields = { title: `Task ${nth}`, status: 'backlog' as const, priority, dependsOn: [] };
  return (await createTask(context, organization, fields, undefined)).id;
}

type BoardSetup = { ids: readonly string[]; context: Context; random: Random; time: VirtualTime };

function createBoard({ ids, context, random, time }: BoardSetup) {
  const holdings: Holding[] = [];
  const counts = { renewals: 0, released: 0, killed: 0, lostAnswers: 0, late: 0, stopped: 0 };
  let [units, next] = [0, 0];
  let isDone = false;
  const chance = (percent: number) => random() * 100 < percent;
  const pause = (seconds: number) => time.sleep(seconds * secondMs);

  /** Works on a claimed task to its end, or until something happens; returns what. */
  async function workOn(
    process: Context,
    task: Task,
    holding: Holding,
  ): Promise<'released' | 'lostAnswers' | 'killed' | 'late'> {
    const claimId = holding.claim;
    // The worker never learns that it has the task.
    if (chance(3)) return 'lostAnswers';
    for (let step = between(random, 1, 4); step > 0; step--) {
      await pause(between(random, 1, 50));
      if (chance(3)) return 'killed';
      if (!chance(60)) continue;
      const renewed = await renewClaim(process, organization, task.id, { claimId, leaseSeconds: 60 }, undefined).catch(
        lost,
      );
      if (!renewed) return 'late';
      counts.renewals += 1;
      holding.until = Date.parse(renewed.claim?.expiresAt as string);
    }
    const end = oneOf(random, ['done', 'done', 'done', 'done', 'done', 'done', 'failed', 'failed', 'back'] as const);
    const body = { claimId, ...(end === 'done' && { status: end }), ...(end === 'failed' && { failed: true }) };
    const released = await releaseTask(process, organization, task.id, body, undefined).catch(lost);
    if (!released) return 'late';
    holding.until = Date.parse(released.updatedAt);
    return 'released';
  }

  /** Takes the next task, or a certain one, which another worker may have. */
  async function takeOne(process: Context, claim: NewClaim): Promise<Task | null> {
    if (chance(30)) return claimTask(process, organization, oneOf(random, ids), claim, undefined).catch(refused);
    const spent = meterUnits(process.table);
    const task = await claimNextTask(process, organization, claim, undefined);
    const spentUnits = spent();
    if (!task) return null;
    next += 1;
    units += spentUnits;
    return task;
  }

  return {
    holdings,
    counts,
    unitsForEach: () => Math.round((10 * units) / next) / 10,

    /** Takes one task after the other until all are done. */
    async work(process: Context, worker: string): Promise<void> {
      while (!isDone) {
        const task = await takeOne(process, { worker, leaseSeconds: 60 });
        if (task?.claim) {
          const { id: claim, expiresAt } = task.claim;
          const holding = { task: task.id, claim, from: Date.parse(task.updatedAt), until: Date.parse(expiresAt) };
          holdings.push(holding);
          counts[await workOn(process, task, holding)] += 1;
        } else await pause(between(random, 5, 30));
      }
      time.leave();
    },

    /** Sweeps every minute as the service does, and offers stopped tasks again as a person does. */
    async look(): Promise<void> {
      while (!isDone) {
        await pause(60);
        await sweepTasks(context as Parameters<typeof sweepTasks>[0], { until: context.clock() });
        const read = await readTasks(context, organization, ids);
        const stopped = read.filter((task) => task.stopped);
        counts.stopped += stopped.length;
        for (const { id } of stopped) await takeBackTask(context, organization, id);
        isDone = read.every(({ status }) => status === 'done') || time.now() > 24 * 3_600 * secondMs;
      }
      time.leave();
    },
  };
}

/** Returns the violations: a task that two workers had at the same time. */
export function overlapsOf(holdings: readonly Holding[]): string[] {
  return [...Map.groupBy(holdings, ({ task }) => task).values()].flatMap((ofTask) => {
    const inOrder = ofTask.toSorted((a, b) => a.from - b.from || a.until - b.until);
    return inOrder.flatMap((one, nth) => {
      const next = inOrder[nth + 1];
      if (!next || next.from >= one.until) return [];
      return `${one.task} was claimed again at ${timestamp(next.from)}, before ${timestamp(one.until)}.`;
    });
  });
}

async function unfinished(context: Context, ids: readonly string[]): Promise<string[]> {
  const read = await readTasks(context, organization, ids);
  const lost = read.length < ids.length ? [`${ids.length - read.length} tasks are gone.`] : [];
  return [...lost, ...read.flatMap(({ id, status }) => (status === 'done' ? [] : `${id} is ${status}.`))];
}

/** Returns `null` if another worker has the task, or it waits for nobody. */
function refused(error: unknown): null {
  if (error instanceof ApiError && ['task_claimed', 'task_not_open'].includes(error.code)) return null;
  throw error;
}

/** Returns `undefined` for a claim that is lost. */
function lost(error: unknown): undefined {
  if (!(error instanceof ApiError && error.code === 'claim_lost')) throw error;
}
