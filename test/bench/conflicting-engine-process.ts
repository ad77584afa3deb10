import { setTimeout as pause } from 'node:timers/promises';
import { type Contention, lockWindowMs, startConflictingEngine } from './conflicting-engine.ts';

/** A message of the proxy: its endpoint at the start, then its conflicts, each time it is asked. */
export type Said = { endpoint: string } | Contention;

// A process of its own, forked by `writers.ts` with the engine's address: neither the busy process of the writers nor the
// engine, which runs one transaction at a time, may make a window longer.
const [engine] = process.argv.slice(2) as [string];
const { endpoint, take } = await startConflictingEngine(engine, () => pause(lockWindowMs));
const say = (said: Said) => process.send?.(said);
process.on('message', () => say(take()));
process.on('disconnect', () => process.exit());
say({ endpoint });
