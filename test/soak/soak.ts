import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { dataFiles } from '../../infra/local/data-folder.ts';
import { tableName } from '../../infra/local/running.ts';
import { backUp } from '../../infra/local/table/file/backup.ts';
import { openLocalTable } from '../../infra/local/table/local-table.ts';
import type { Table } from '../../lib/table/access/client.ts';
import { type Caused, causeFaults } from './cause-faults.ts';
import { type Checked, check } from './check/check.ts';
import { dueIn, gather, type Sources } from './check/evidence.ts';
import type { FaultKind } from './plan.ts';
import { type Asked, planOf } from './plan.ts';
import { randomFrom } from './random.ts';
import { type Closes, createSetup, type Setup } from './setup.ts';
import { write } from './writers.ts';

/** The longest wait until nothing is due, in milliseconds, and a function that gets the progress. */
type Patience = { restWithinMs: number; say: (line: string) => void };

export type Manner = Asked &
  Patience & {
    perSecond: number;
    /** Whether the last fault is a kill: the sweep at the next start then sends what would wait for the next sweep. */
    killsAtEnd: boolean;
  };

export type Outcome = Checked & {
  events: number;
  faults: Map<FaultKind, number>;
  starts: number;
  ms: number;
  /** The folder of data and logs, which is kept when anything was lost. */
  kept: string | undefined;
};

const progressMs = 10_000;
const everyMs = 2_000;

/** Writes to the whole local service under faults, ends the faults, and then checks everything. */
export async function soak(manner: Manner): Promise<Outcome> {
  const startedAt = Date.now();
  const folder = mkdtempSync(join(tmpdir(), 'crewboard-soak-'));
  manner.say(`Data and logs are in ${folder}`);
  const closes: Closes = [];
  let kept: string | undefined = folder;
  try {
    const setup = await createSetup(folder, manner.seed, closes);
    const caused: Caused = { kinds: new Map(), interruptions: [] };
    const progress = setInterval(() => manner.say(progressOf(setup, caused, manner)), progressMs);
    closes.push(() => clearInterval(progress));
    await disturb(setup, caused, manner, closes);
    const counted = await judge(setup, caused, manner);
    if (counted.lost.length === 0) kept = undefined;
    else writeFileSync(join(folder, 'posts.json'), JSON.stringify(setup.receivers.map(({ posts }) => posts)));
    const { ledger, service } = setup;
    const ms = Date.now() - startedAt;
    return {
      ...{ ...counted, events: ledger.events },
      ...{ faults: caused.kinds, starts: service.starts(), ms, kept },
    };
  } finally {
    for (const close of closes.reverse()) await close();
    if (!kept) rmSync(folder, { recursive: true });
  }
}

/** Writes and causes the faults at the same time until both are done, and then ends the faults. */
async function disturb(setup: Setup, caused: Caused, manner: Manner, closes: Closes): Promise<void> {
  const { service, clock, ledger, receivers, changes } = setup;
  const ending = new AbortController();
  const over = ending.signal;
  const work = [
    write({ service, ledger, ...manner, random: randomFrom(manner.seed), over }),
    causeFaults(planOf(manner, receivers.length), { setup, caused, over }),
  ];
  closes.push(() => {
    ending.abort();
    return Promise.allSettled(work);
  });
  await Promise.race([Promise.all(work), service.broken]);
  for (const one of [clock, ...receivers]) one.relent();
  await changes.relent(over);
  if (manner.killsAtEnd) await causeFaults([{ after: 0, fault: { kind: 'kill -9' } }], { setup, caused, over });
}

/** Checks the data of the service, which keeps running. */
function judge(setup: Setup, { interruptions }: Caused, patience: Patience): Promise<Checked> {
  const { service, dataFolder, clock, ledger, registered, follower } = setup;
  const sources = { ledger, interruptions, registered, steps: clock.steps, seen: follower.seen };
  return Promise.race([checkAtRest(dataFolder, sources, patience), service.broken]);
}

/** Reads the table as it is now, in a copy, because only one process may open it. */
async function readCopy<Result>(dataFolder: string, read: (table: Table) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'crewboard-soak-copy-'));
  try {
    const path = join(folder, dataFiles.table);
    await backUp(join(dataFolder, dataFiles.table), path);
    const { table, close } = openLocalTable({ path, tableName, kinds: [], inThread: false });
    try {
      return await read(table);
    } finally {
      await close();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function progressOf(setup: Setup, { kinds }: Caused, { events, faults }: Asked): string {
  const caused = [...kinds.values()].reduce((sum, number) => sum + number, 0);
  return `${setup.ledger.events} of ${events} events, ${caused} of ${faults} faults`;
}

/** Checks once nothing is due any more, and again while there are faults, until the time is up. */
async function checkAtRest(
  dataFolder: string,
  sources: Omit<Sources, 'table'>,
  { restWithinMs, say }: Patience,
): Promise<Checked> {
  const deadline = Date.now() + restWithinMs;
  let said = '';
  for (;;) {
    const late = Date.now() > deadline;
    const { due, counted } = await readCopy(dataFolder, async (table) => {
      const due = await dueIn(table);
      return { due, counted: due.length === 0 || late ? check(await gather({ table, ...sources })) : undefined };
    });
    if (counted && (counted.lost.length === 0 || late)) return counted;
    const waiting = counted
      ? `${counted.lost.length} things, such as: ${counted.lost[0]}`
      : `${due.length} deliveries and executions`;
    if (waiting !== said) say(`waiting for ${waiting}`);
    said = waiting;
    await pause(everyMs);
  }
}
