import { setTimeout as pause } from 'node:timers/promises';
import { openLocalTable } from '../../../infra/local/table/local-table.ts';
import { type Contention, lockWindowMs, startConflictingTable } from './conflicting-table.ts';

/** A message of the table: its endpoint at the start, then its conflicts, each time it is asked. */
export type Said = { endpoint: string } | Contention;

// A process of its own, forked by `writers.ts` with the name of the table: the busy process of the writers must not make a
// window longer. In memory, because a wait for the disk would.
const [tableName] = process.argv.slice(2) as [string];
const { table } = openLocalTable({ path: ':memory:', tableName, kinds: [] });
const { endpoint, take } = await startConflictingTable(table, () => pause(lockWindowMs));
const say = (said: Said) => process.send?.(said);
process.on('message', () => say(take()));
process.on('disconnect', () => process.exit());
say({ endpoint });
