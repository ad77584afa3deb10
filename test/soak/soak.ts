import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tableName } from '../../infra/local/running.ts';
import { openTable } from '../../lib/table/client.ts';
import { readTotal } from './api.ts';
import { conduct, type Happened } from './conductor.ts';
import type { FaultKind } from './faults.ts';
import { type Asked, planOf } from './plan.ts';
import { randomFrom } from './random.ts';
import type { Recount } from './recount.ts';
import { type Patience, recountAtRest } from './rest.ts';
import type { ServiceProcess } from './service-process.ts';
import { type Closes, type Stage, setStage } from './stage.ts';
import { write } from './writers.ts';

/** How a soak is carried out. */
export type Manner = Asked &
  Patience & {
    /** How many events are written in a second. */
    perSecond: number;
    /** Ends the faults with one more kill: the sweep of the new start then wakes what would wait for the next minutes'. */
    killsAtEnd: boolean;
  };

/** What a soak has come to. */
export type Outcome = Recount & {
  events: number;
  posts: number;
  faults: Map<FaultKind, number>;
  starts: ServiceProcess['starts'];
  ms: number;
  /** Where data and logs are kept, when anything was lost. */
  kept: string | undefined;
};

/** How often it is told how far a soak has come. */
const toldEveryMs = 10_000;

/** Soaks the whole local service: events under faults, then peace, then a recount of everything. */
export async function soak(manner: Manner): Promise<Outcome> {
  const startedAt = Date.now();
  const folder = mkdtempSync(join(tmpdir(), 'crewboard-soak-'));
  manner.say(`Data and logs are in ${folder}`);
  const closes: Closes = [];
  let kept: string | undefined = folder;
  try {
    const stage = await setStage(folder, manner.seed, closes);
    const happened: Happened = { kinds: new Map(), interruptions: [] };
    const telling = setInterval(() => manner.say(progressOf(stage, happened, manner)), toldEveryMs);
    closes.push(() => clearInterval(telling));
    await disturb(stage, happened, manner, closes);
    const counted = await judge(stage, happened, manner);
    if (counted.lost.length === 0) kept = undefined;
    else writeFileSync(join(folder, 'posts.json'), JSON.stringify(stage.receivers.map(({ posts }) => posts)));
    const { ledger, service } = stage;
    const ms = Date.now() - startedAt;
    return {
      ...{ ...counted, events: ledger.events, posts: postsOn(stage) },
      ...{ faults: happened.kinds, starts: service.starts, ms, kept },
    };
  } finally {
    for (const close of closes.reverse()) await close();
    if (!kept) rmSync(folder, { recursive: true });
  }
}

/** Writes and causes the faults side by side until both are done, and leaves everything in peace then. */
async function disturb(stage: Stage, happened: Happened, manner: Manner, closes: Closes): Promise<void> {
  const { service, ledger, proxy, receivers } = stage;
  const ending = new AbortController();
  const over = ending.signal;
  const work = [
    write({ service, ledger, ...manner, random: randomFrom(manner.seed), over }),
    conduct(planOf(manner, receivers.length), { stage, happened, over }),
  ];
  closes.push(() => {
    ending.abort();
    return Promise.allSettled(work);
  });
  await Promise.race([Promise.all(work), service.broken]);
  for (const one of [proxy, ...receivers]) one.relent();
  if (manner.killsAtEnd)
    await conduct([{ after: 0, fault: { kind: 'kill -9 of service and engine' } }], { stage, happened, over });
}

/** Recounts by the table itself, past the proxy. */
async function judge(stage: Stage, { interruptions }: Happened, patience: Patience): Promise<Recount> {
  const { service, engine, proxy, ledger, registered } = stage;
  const table = openTable(tableName, engine.endpoint());
  const totalOf = (path: string) => readTotal(service, path);
  const sources = { ledger, interruptions, disturbed: proxy.disturbed, table, registered, totalOf };
  try {
    return await Promise.race([recountAtRest(sources, patience), service.broken]);
  } finally {
    table.client.destroy();
  }
}

function progressOf(stage: Stage, { kinds }: Happened, { events, faults }: Asked): string {
  const caused = [...kinds.values()].reduce((sum, number) => sum + number, 0);
  return `${stage.ledger.events} of ${events} events, ${caused} of ${faults} faults, ${postsOn(stage)} posts`;
}

const postsOn = ({ receivers }: Stage) => receivers.reduce((sum, { posts }) => sum + posts.length, 0);
