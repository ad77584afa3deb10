import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tableName } from '../../infra/local/running.ts';
import { openTable } from '../../lib/table/client.ts';
import { paginationOf } from '../api.ts';
import { type Caused, causeFaults } from './cause-faults.ts';
import type { Checked } from './check.ts';
import type { FaultKind } from './plan.ts';
import { type Asked, planOf } from './plan.ts';
import { randomFrom } from './random.ts';
import { checkAtRest, type Patience } from './rest.ts';
import type { ServiceProcess } from './service-process.ts';
import { type Closes, createSetup, type Setup } from './setup.ts';
import { write } from './writers.ts';

/** The options of a soak. */
export type Manner = Asked &
  Patience & {
    /** Events a second. */
    perSecond: number;
    /** Whether the last fault is a kill: the sweep at the next start then sends what would wait for the next sweep. */
    killsAtEnd: boolean;
  };

/** The result of a soak. */
export type Outcome = Checked & {
  events: number;
  posts: number;
  faults: Map<FaultKind, number>;
  starts: ServiceProcess['starts'];
  ms: number;
  /** The folder of data and logs, which is kept when anything was lost. */
  kept: string | undefined;
};

/** The time between two lines of progress, in milliseconds. */
const progressMs = 10_000;

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
      ...{ ...counted, events: ledger.events, posts: postsOn(setup) },
      ...{ faults: caused.kinds, starts: service.starts, ms, kept },
    };
  } finally {
    for (const close of closes.reverse()) await close();
    if (!kept) rmSync(folder, { recursive: true });
  }
}

/** Writes and causes the faults at the same time until both are done, and then ends the faults. */
async function disturb(setup: Setup, caused: Caused, manner: Manner, closes: Closes): Promise<void> {
  const { service, ledger, proxy, receivers } = setup;
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
  for (const one of [proxy, ...receivers]) one.relent();
  if (manner.killsAtEnd)
    await causeFaults([{ after: 0, fault: { kind: 'kill -9 of service and engine' } }], { setup, caused, over });
}

/** Checks the table itself, past the proxy. */
async function judge(setup: Setup, { interruptions }: Caused, patience: Patience): Promise<Checked> {
  const { service, engine, proxy, ledger, registered } = setup;
  const table = openTable(tableName, engine.endpoint());
  const totalOf = async (id: string) =>
    paginationOf(await service.api().listDeliveries({ params: { id }, query: 'limit=1' })).total;
  const sources = { ledger, interruptions, disturbed: proxy.disturbed, table, registered, totalOf };
  try {
    return await Promise.race([checkAtRest(sources, patience), service.broken]);
  } finally {
    table.client.destroy();
  }
}

function progressOf(setup: Setup, { kinds }: Caused, { events, faults }: Asked): string {
  const caused = [...kinds.values()].reduce((sum, number) => sum + number, 0);
  return `${setup.ledger.events} of ${events} events, ${caused} of ${faults} faults, ${postsOn(setup)} posts`;
}

const postsOn = ({ receivers }: Setup) => receivers.reduce((sum, { posts }) => sum + posts.length, 0);
