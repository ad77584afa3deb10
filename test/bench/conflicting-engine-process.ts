import { setTimeout as pause } from 'node:timers/promises';
import { type Contention, lockWindowMs, openConflictingEngine } from './conflicting-engine.ts';

/** What it says: where it answers first of all, then what it has seen, each time it is asked. */
export type Said = { endpoint: string } | Contention;

// A process of its own, forked by `writers.ts` with the engine's address: a window must not last longer because the
// writers keep their process busy. Nor because the engine, which carries out one transaction at a time, lets it wait.
const [engine] = process.argv.slice(2) as [string];
const { endpoint, take } = await openConflictingEngine(engine, () => pause(lockWindowMs));
const say = (said: Said) => process.send?.(said);
process.on('message', () => say(take()));
process.on('disconnect', () => process.exit());
say({ endpoint });
