import { tableSchema } from '../deployment/table-schema.ts';
import type { Table } from './client.ts';
import { keys, type ListScope } from './keys.ts';
import { queryItems } from './reads.ts';
import { shardOf } from './shards.ts';
import { transactionLimit } from './transact.ts';
import type { Item, OnConditionFailed, Write } from './write.ts';

/**
 * Lists that are exact, read their own writes and cost the same at any size (docs/architecture.md#lists-and-counts).
 * DynamoDB counts nothing and skips nothing, so each listed thing keeps thin rows in the lists that it is in, in the
 * order of its id, and counter rows that say how many there are. Rows and counters change in the thing's own
 * transaction.
 */

/**
 * The run of a list that holds everything in it, whatever its facet. Each run has a number of its own in the counters, and
 * rows of its own; but this one has no rows where the things themselves are a partition in the order of the list.
 */
export const everything = '*';

/** Where a thing stands: the lists it is in, and its facet in each of them (for a task: status × priority). */
export type ListMembership = {
  /** Its order is the list's. */
  ulid: string;
  /** `everything` for a thing that has no facets. */
  facet: string;
  lists: ListScope[];
  /** What the rows carry, where a row is the list's entry itself. */
  entry?: Item;
};

/**
 * How a list's time is cut for counting. Counters of whole periods let an offset skip them, and totals stay exact
 * where expiry takes whole periods away.
 */
export type Periods = {
  /** The period of a ULID; its order is the order of time. */
  of: (ulid: string) => string;
  /** The least ULID that an period can hold. */
  first: (period: string) => string;
  /** The greatest ULID that an period can hold. */
  last: (period: string) => string;
};

/** Periods of 2³⁰ ms, 12.4 days: the first 4 characters of a ULID. A year has 30. */
export const ulidPeriods: Periods = {
  of: (ulid) => ulid.slice(0, 4),
  first: (period) => period.padEnd(26, '0'),
  last: (period) => period.padEnd(26, 'Z'),
};

const runsOf = (facet: string) => (facet === everything ? [everything] : [everything, facet]);

const hasRows = ({ items }: ListScope, run: string) => run !== everything || items === undefined;

const isIn = (membership: ListMembership | undefined, list: ListScope): membership is ListMembership =>
  membership?.lists.some((other) => other.rows === list.rows) ?? false;

/** How a kind of list is kept: how its time is cut, and when what is written to it expires (seconds since 1970). */
export type Keeping = { periods?: Periods; expiresAt?: number };

/**
 * The writes that take a thing from where it stands to where it will stand, `undefined` meaning nowhere. They go
 * into the transaction that changes the thing itself: per list 3 writes to enter, to leave or to change the facet, and 2
 * to enter or to leave a list whose things are a partition.
 * Rows that carry an entry are written anew, even where the thing stays.
 */
export function listingWrites(before?: ListMembership, after?: ListMembership, keeping: Keeping = {}): Write[] {
  const ulid = ((after ?? before) as ListMembership).ulid;
  const lists = new Map([...(before?.lists ?? []), ...(after?.lists ?? [])].map((list) => [list.rows, list]));
  return [...lists.values()].flatMap((list) => {
    const left = isIn(before, list) ? before.facet : undefined;
    const entered = isIn(after, list) ? after.facet : undefined;
    const rewritten = after?.entry !== undefined;
    if (left === entered && !rewritten) return [];
    const leaves = left ? runsOf(left) : [];
    const enters = entered ? runsOf(entered) : [];
    return [
      ...leaves
        .filter((run) => hasRows(list, run) && !enters.includes(run))
        .map((run): Write => ({ Delete: { Key: keys.listRow(list, run, ulid) } })),
      ...enters
        .filter((run) => hasRows(list, run) && (rewritten || !leaves.includes(run)))
        .map((run) => put({ ...keys.listRow(list, run, ulid), ...after?.entry }, keeping)),
      ...(left === entered ? [] : [count(list, ulid, changesOf(leaves, enters), keeping)]),
    ];
  });
}

/** The most things that `leavingWrites` takes out in one transaction: two rows each, and the counter. */
export const leavingLimit = Math.floor((transactionLimit - 1) / 2);

/** Names the counter row of a thing in a list: things of one name can leave the list in one transaction. */
export function counterOf(ulid: string): string {
  return `${ulidPeriods.of(ulid)}#${shardOf(ulid)}`;
}

/**
 * The writes that take several things of one counter row out of a list, for a list that loses many at once.
 *
 * @param otherwise what it means that one of them stands elsewhere by now, or nowhere
 */
export function leavingWrites(
  list: ListScope,
  things: readonly Pick<ListMembership, 'ulid' | 'facet'>[],
  onConditionFailed: OnConditionFailed,
): Write[] {
  const rows = things.flatMap(({ ulid, facet }) => runsOf(facet).map((run) => keys.listRow(list, run, ulid)));
  const changes = changesOf(
    things.flatMap(({ facet }) => runsOf(facet)),
    [],
  );
  return [
    ...rows.map((Key): Write => ({ Delete: { Key, ConditionExpression: 'attribute_exists(pk)' }, onConditionFailed })),
    count(list, (things[0] as ListMembership).ulid, changes, {}),
  ];
}

function put(item: Item, { expiresAt }: Keeping): Write {
  return { Put: { Item: { ...item, ...(expiresAt && { [tableSchema.expiry]: expiresAt }) } } };
}

/** What rows that go and come change in the number of each run; a run that loses as many as it gains is left out. */
function changesOf(leaves: readonly string[], enters: readonly string[]): Record<string, number> {
  const changes: Record<string, number> = {};
  for (const run of leaves) changes[run] = (changes[run] ?? 0) - 1;
  for (const run of enters) changes[run] = (changes[run] ?? 0) + 1;
  return Object.fromEntries(Object.entries(changes).filter(([, change]) => change !== 0));
}

function count(list: ListScope, ulid: string, changes: Record<string, number>, keeping: Keeping): Write {
  const { periods = ulidPeriods, expiresAt } = keeping;
  const runs = Object.entries(changes);
  const add = `ADD ${runs.map((_, at) => `#run${at} :change${at}`).join(', ')}`;
  const keyIn = (shard: number) => keys.listCounter(list, periods.of(ulid), shard);
  return {
    keyIn,
    Update: {
      Key: keyIn(shardOf(ulid)),
      UpdateExpression: expiresAt ? `SET #expiry = :expiry ${add}` : add,
      ExpressionAttributeNames: {
        ...Object.fromEntries(runs.map(([run], at) => [`#run${at}`, run])),
        ...(expiresAt && { '#expiry': tableSchema.expiry }),
      },
      ExpressionAttributeValues: {
        ...Object.fromEntries(runs.map(([, change], at) => [`:change${at}`, change])),
        ...(expiresAt && { ':expiry': expiresAt }),
      },
    },
  };
}

/** What to read of a list. */
export type ListQuery = {
  list: ListScope;
  /** The facets that the filters match; `undefined` for all of a list that has rows of `everything`. */
  facets?: readonly string[] | undefined;
  limit: number;
  offset: number;
  periods?: Periods;
  /** The oldest ULID that still counts, at the start of an period: where entries expire, for TTL deletes late. */
  since?: string;
  /** Counts the list where no counters do; newest period first. */
  count?: () => Promise<PeriodCount[]>;
};

/** How many an period of a list holds, and the least and the greatest ULID that it can hold. */
export type PeriodCount = { number: number; first: string; last: string };

/** A row of a list: the ULID that orders it, and what else it carries. */
export type Row = { ulid: string; entry: Item };

/**
 * Reads a page, newest first, and the exact total, strongly consistent. At offset 0 the counters are read beside one
 * query a facet; at any other they come first and let whole periods be skipped.
 */
export async function readPage(table: Table, query: ListQuery): Promise<{ rows: Row[]; total: number }> {
  const { limit, offset, count = () => countPeriods(table, query) } = query;
  if (offset === 0) {
    const [counts, rows] = await Promise.all([count(), readRows(table, query, undefined, limit)]);
    return { rows: rows.slice(0, limit), total: totalOf(counts) };
  }
  const counts = await count();
  const total = totalOf(counts);
  if (offset >= total) return { rows: [], total };
  const { newest, oldest, above } = periodsOfPage(counts, offset, limit);
  const skip = offset - above;
  const rows = await readRows(table, { ...query, since: oldest.first }, newest.last, skip + limit);
  return { rows: rows.slice(skip, skip + limit), total };
}

/**
 * Reads a page of a list whose things are a partition, newest first, and the exact total, strongly consistent, in one round.
 * It reads all things above the page, which weigh more than rows: for pages near the start of the list.
 */
export async function readItemPage(
  table: Table,
  list: ListScope & { items: string },
  { limit, offset }: Pick<ListQuery, 'limit' | 'offset'>,
): Promise<{ items: Item[]; total: number }> {
  const [counts, items] = await Promise.all([
    countPeriods(table, { list }),
    Array.fromAsync(queryItems(table, { pk: list.items, limit: offset + limit })),
  ]);
  return { items: items.slice(offset), total: totalOf(counts) };
}

/**
 * The newest and the oldest period that a page lies in, and how many stand `above` them: periods before are skipped,
 * those behind are not read, for each of six facets would read into them.
 */
function periodsOfPage(counts: PeriodCount[], offset: number, limit: number) {
  const on: PeriodCount[] = [];
  let above = 0;
  let seen = 0;
  for (const period of counts) {
    seen += period.number;
    if (seen <= offset) above = seen;
    else if (seen - period.number < offset + limit) on.push(period);
  }
  return { newest: on[0] as PeriodCount, oldest: on.at(-1) as PeriodCount, above };
}

const totalOf = (counts: PeriodCount[]) => counts.reduce((total, { number }) => total + number, 0);

/** How many of the asked facets each period holds, newest first. */
async function countPeriods(
  table: Table,
  query: Pick<ListQuery, 'list' | 'facets' | 'periods' | 'since'>,
): Promise<PeriodCount[]> {
  const { list, facets = [everything], periods = ulidPeriods, since } = query;
  const counts = new Map<string, number>();
  for await (const { sk, ...numbers } of queryItems(table, {
    pk: list.counters,
    from: since && periods.of(since),
    // A year has a hundred counters of up to 25 numbers: what is not asked for need not be read out of the answer.
    only: facets,
  })) {
    const [period] = (sk as string).split('#') as [string];
    for (const number of Object.values(numbers)) counts.set(period, (counts.get(period) ?? 0) + (number as number));
  }
  return [...counts].map(([period, number]) => ({ number, first: periods.first(period), last: periods.last(period) }));
}

/**
 * The newest `limit` rows of each asked facet, from a ULID downwards, merged. A thing on its way from facet to facet
 * may be met in both: once is enough.
 */
async function readRows(table: Table, query: ListQuery, from: string | undefined, limit: number): Promise<Row[]> {
  const { list, facets = [everything], since = '' } = query;
  const runs = await Promise.all(
    facets.map(async (run) => {
      const rows: Row[] = [];
      const range = { pk: list.rows, from: `${run}#${since}`, to: `${run}#${from ?? '~'}`, limit };
      for await (const { pk: _, sk, [tableSchema.expiry]: __, ...entry } of queryItems(table, range))
        rows.push({ ulid: (sk as string).slice(run.length + 1), entry });
      return rows;
    }),
  );
  const once = new Map(runs.flat().map((row) => [row.ulid, row]));
  return [...once.values()].sort((a, b) => (a.ulid < b.ulid ? 1 : -1));
}
