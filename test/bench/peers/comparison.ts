import type { Bench } from '../bench.ts';
import type { Table } from '../page/page.ts';
import { type Column, type Measurements, measureInTurns, tableOfFigures } from '../page/turns.ts';
import { idleCpuOf, type Subject } from '../service.ts';
import { type Peer, startPeer } from './peer.ts';

/** What is measured: a service, its CPU use without any load in ms a ms, and what was prepared for it. */
export type Prepared<Started extends Subject, Ready> = { service: Started; idle: number; ready: Ready };

/** A comparison of this service with a peer. */
export type Comparison<Started extends Subject, Ready> = Measurements<Prepared<Started, Ready>> & {
  peer: Peer<Started>;
  startOwn: (bench: Bench) => Promise<Started>;
  /** Warms a service up, and returns what the measurements need. */
  prepare: (service: Started) => Promise<Ready>;
};

export const whole = {
  ...{ runs: 5, idleSeconds: 5, warmUp: 300, burstEvents: 2_000, seconds: 8, executions: 1_000 },
  ...{ smallBoard: 100, largeBoard: 100_000, requests: 500, calls: 1_000 },
};
export type Size = typeof whole;
export const quick: Size = {
  ...{ runs: 1, idleSeconds: 0.5, warmUp: 50, burstEvents: 100, seconds: 1, executions: 50 },
  ...{ smallBoard: 100, largeBoard: 1_000, requests: 50, calls: 50 },
};

/** The number of callers of events and executions, and the number of callers of records and tools. */
export const [callers, fewCallers] = [50, 16];

/**
 * Measures this service and its peer in turns; this service alone if the peer is not installed.
 *
 * @param folders the folders in which programs are searched
 */
export async function compare<Started extends Subject, Ready>(
  bench: Bench,
  comparison: Comparison<Started, Ready>,
  { runs, idleSeconds }: Size,
  folders: readonly string[],
): Promise<Table> {
  const peer = await startPeer(bench, comparison.peer, folders);
  const own = await comparison.startOwn(bench);
  const columns: Column<Prepared<Started, Ready>>[] = [];
  for (const service of peer ? [own, peer] : [own]) {
    const ready = await comparison.prepare(service);
    columns.push({
      name: service.name,
      subject: { service, idle: await idleCpuOf(service, idleSeconds), ready },
      seen: [],
    });
  }
  await measureInTurns(bench, comparison, columns, runs);
  const missing = peer ? [] : [{ name: `${comparison.peer.name}: not installed`, seen: [] }];
  return tableOfFigures(comparison, [...columns, ...missing]);
}
