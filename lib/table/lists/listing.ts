import { descending } from '../../contract/texts/order.ts';
import { tableSchema } from '../../names/table-schema.ts';
import type { Table } from '../access/client.ts';
import { keys, type ListScope } from '../access/keys.ts';
import { readRange } from '../access/reads.ts';
import { onlyShard, shardOf } from '../access/shards.ts';
import type { Item, Write } from '../access/write.ts';

/**
 * Lists with exact totals (docs/architecture.md#lists-and-counts). Reads are strongly consistent, and their cost does
 * not depend on the size of the list. DynamoDB cannot count or skip items, so each item has small rows in its lists,
 * sorted by ULID, and counters store the number of rows. The transaction that changes an item also writes its rows and
 * counters.
 */

/**
 * The facet that contains all items of a list. Like any facet it has its own number in the counters, and usually its
 * own rows. It has no rows in a list whose items are in one partition in list order: the items are read instead.
 */
export const everything = '*';

/** The lists that an item is in, and its facet in them (of a task: status and priority). */
export type ListMembership = {
  /** The sort key of the item in its lists. */
  ulid: string;
  /** `everything` if the items of the lists have no facets. */
  facet: string;
  lists: ListScope[];
  /** Further attributes of the rows, for a list that is read without its items. */
  entry?: Item;
};

/**
 * Divide the time of a list into periods of 2³⁰ ms (12.4 days), each with its own counters: the first 4 characters of a
 * ULID. A year has 30 periods. A read at an offset uses the counters to skip whole periods.
 */
export const ulidPeriods = {
  /** Returns the period of a ULID. Periods sort by time. */
  of: (ulid: string): string => ulid.slice(0, 4),
  /** Returns the least ULID of a period. */
  first: (period: string): string => period.padEnd(26, '0'),
  /** Returns the greatest ULID of a period. */
  last: (period: string): string => period.padEnd(26, 'Z'),
};

/** Returns the facets whose rows and counters include an item with the given facet. */
const includingFacets = (facet: string) => (facet === everything ? [everything] : [everything, facet]);

const hasRows = ({ items }: ListScope, facet: string) => facet !== everything || items === undefined;

const isIn = (membership: ListMembership | undefined, list: ListScope): membership is ListMembership =>
  membership?.lists.some((other) => other.rows === list.rows) ?? false;

/**
 * Returns the writes that move an item from its lists to other lists or another facet. They belong in the transaction
 * that changes the item. Each list takes 3 writes for an item that enters, leaves or changes its facet, and 2 writes
 * for an item that enters or leaves a list whose items are one partition. Rows with an entry are always written again.
 *
 * @param before `undefined` for a new item
 * @param after `undefined` for a deleted item
 */
export function listingWrites(before?: ListMembership, after?: ListMembership): Write[] {
  const ulid = ((after ?? before) as ListMembership).ulid;
  const lists = new Map([...(before?.lists ?? []), ...(after?.lists ?? [])].map((list) => [list.rows, list]));
  return [...lists.values()].flatMap((list) => {
    const left = isIn(before, list) ? before.facet : undefined;
    const entered = isIn(after, list) ? after.facet : undefined;
    const rewritten = after?.entry !== undefined;
    if (left === entered && !rewritten) return [];
    const leaves = left ? includingFacets(left) : [];
    const enters = entered ? includingFacets(entered) : [];
    return [
      ...leaves
        .filter((facet) => hasRows(list, facet) && !enters.includes(facet))
        .map((facet): Write => ({ Delete: { Key: keys.listRow(list, facet, ulid) } })),
      ...enters
        .filter((facet) => hasRows(list, facet) && (rewritten || !leaves.includes(facet)))
        .map((facet): Write => ({ Put: { Item: { ...keys.listRow(list, facet, ulid), ...after?.entry } } })),
      ...(left === entered ? [] : [addToCounter(list, ulid, onlyShard, countChanges(leaves, enters))]),
    ];
  });
}

/**
 * Returns the name of a counter that items can leave in one transaction, while others leave a list in another one at the same
 * time.
 */
export function counterOf(ulid: string): string {
  return `${ulidPeriods.of(ulid)}#${shardOf(ulid)}`;
}

/** Returns by how much the number of each facet changes, without changes of 0. */
function countChanges(leaves: readonly string[], enters: readonly string[]): Record<string, number> {
  const changes: Record<string, number> = {};
  for (const facet of leaves) changes[facet] = (changes[facet] ?? 0) - 1;
  for (const facet of enters) changes[facet] = (changes[facet] ?? 0) + 1;
  return Object.fromEntries(Object.entries(changes).filter(([, change]) => change !== 0));
}

/** Returns the write that adds to the numbers of facets in the counter of an item, in a shard. */
export function addToCounter(list: ListScope, ulid: string, shard: number, changes: Record<string, number>): Write {
  const facets = Object.entries(changes);
  const keyIn = (other: number) => keys.listCounter(list, ulidPeriods.of(ulid), other);
  return {
    keyIn,
    Update: {
      Key: keyIn(shard),
      UpdateExpression: `ADD ${facets.map((_, at) => `#facet${at} :change${at}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(facets.map(([facet], at) => [`#facet${at}`, facet])),
      ExpressionAttributeValues: Object.fromEntries(facets.map(([, change], at) => [`:change${at}`, change])),
    },
  };
}

/** A query for one page of a list. */
export type ListQuery = {
  list: ListScope;
  /** The facets that match the filters. `undefined` means all items, in a list that has rows of `everything`. */
  facets?: readonly string[] | undefined;
  /** Further facets that match the filters, which most lists have no items of. They are read only if the counters count some. */
  rareFacets?: readonly string[] | undefined;
  limit: number;
  offset: number;
  /** The least ULID to read, at the start of a period. Older rows have expired, but may not be deleted yet. */
  since?: string;
  /** For a list without counters: counts the items of each period, newest period first. */
  count?: () => Promise<PeriodCount[]>;
  /** Rows that belong to the list as well, all of them: no facet and no counter has them. */
  others?: readonly Row[];
};

/** The number of items in a period of a list, and the least and the greatest ULID of the period. */
export type PeriodCount = { number: number; first: string; last: string };

/** A row of a list: the ULID of the item, and the other attributes. */
export type Row = { ulid: string; entry: Item };

/**
 * Returns a page, newest first, and the exact total. Reads are strongly consistent. At offset 0 the counters are read
 * at the same time as the rows. At other offsets they are read first, to skip whole periods.
 */
export async function readPage(table: Table, query: ListQuery): Promise<{ rows: Row[]; total: number }> {
  const { limit, offset, others = [] } = query;
  if (offset === 0) {
    const [{ counts, rare }, rows] = await Promise.all([count(table, query), readRows(table, query, undefined, limit)]);
    const rareRows = rare.length > 0 ? await readRows(table, { ...query, facets: rare }, undefined, limit) : [];
    return { rows: newestOf([...rows, ...rareRows]).slice(0, limit), total: totalOf(counts) + others.length };
  }
  const { counts: counted, rare } = await count(table, query);
  const counts = withOthers(counted, others);
  const total = totalOf(counts);
  if (offset >= total) return { rows: [], total };
  const { newest, oldest, newer } = periodsOfPage(counts, offset, limit);
  const skip = offset - newer;
  const facets = query.facets && [...query.facets, ...rare];
  const rows = await readRows(table, { ...query, facets, since: oldest.first }, newest.last, skip + limit);
  return { rows: rows.slice(skip, skip + limit), total };
}

/**
 * Returns a page of a list whose items are one partition, newest first, and the exact total. Reads are strongly
 * consistent. Use it only for pages near the start: it also reads all items before the page, and items are larger than
 * rows.
 */
export async function readItemPage(
  table: Table,
  list: ListScope & { items: string },
  { limit, offset }: Pick<ListQuery, 'limit' | 'offset'>,
): Promise<{ items: Item[]; total: number }> {
  const [{ counts }, items] = await Promise.all([
    count(table, { list }),
    readRange(table, { pk: list.items, limit: offset + limit }),
  ]);
  return { items: items.slice(offset), total: totalOf(counts) };
}

/** Returns the counts of periods, newest period first, with the rows that no counter has. */
function withOthers(counts: PeriodCount[], others: readonly Row[]): PeriodCount[] {
  const periods = new Map(counts.map((count) => [count.first, count]));
  for (const { ulid } of others) {
    const period = ulidPeriods.of(ulid);
    const [first, last] = [ulidPeriods.first(period), ulidPeriods.last(period)];
    periods.set(first, { first, last, number: (periods.get(first)?.number ?? 0) + 1 });
  }
  return [...periods.values()].sort((a, b) => descending(a.first, b.first));
}

/**
 * Returns the newest and the oldest period of a page, and the number of items in still newer periods. The oldest period
 * limits the queries: queries of several facets would otherwise also read rows of older periods.
 */
function periodsOfPage(counts: PeriodCount[], offset: number, limit: number) {
  const onPage: PeriodCount[] = [];
  let newer = 0;
  let seen = 0;
  for (const period of counts) {
    seen += period.number;
    if (seen <= offset) newer = seen;
    else if (seen - period.number < offset + limit) onPage.push(period);
  }
  return { newest: onPage[0] as PeriodCount, oldest: onPage.at(-1) as PeriodCount, newer };
}

const totalOf = (counts: PeriodCount[]) => counts.reduce((total, { number }) => total + number, 0);

/**
 * Returns the number of items with each facet in a list, strongly consistent: one query of the counters, whatever the
 * number of facets. Facets without items can be absent.
 */
export async function countFacets(
  table: Table,
  list: ListScope,
  facets: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const counter of await readCounters(table, list, facets))
    for (const facet of facets) counts.set(facet, (counts.get(facet) ?? 0) + numberOf(counter, facet));
  return counts;
}

/** Returns the number of items with the queried facets in each period, newest first, and the rare facets that have items. */
async function count(
  table: Table,
  query: Pick<ListQuery, 'list' | 'facets' | 'rareFacets' | 'count'>,
): Promise<{ counts: PeriodCount[]; rare: string[] }> {
  if (query.count) return { counts: await query.count(), rare: [] };
  const { list, facets: common = [everything], rareFacets = [] } = query;
  const facets = [...common, ...rareFacets];
  const counters = await readCounters(table, list, facets);
  const counts = new Map<string, number>();
  for (const counter of counters) {
    const [period] = (counter.sk as string).split('#') as [string];
    for (const facet of facets) counts.set(period, (counts.get(period) ?? 0) + numberOf(counter, facet));
  }
  return {
    counts: [...counts].map(([period, number]) => ({
      number,
      first: ulidPeriods.first(period),
      last: ulidPeriods.last(period),
    })),
    rare: rareFacets.filter((facet) => counters.some((counter) => numberOf(counter, facet) > 0)),
  };
}

/**
 * Returns the counters of a list, newest period first, with only their sort keys and the numbers of the facets: a counter has
 * up to 33 numbers.
 */
function readCounters(table: Table, list: ListScope, facets: readonly string[]): Promise<Item[]> {
  return readRange(table, { pk: list.counters, only: facets });
}

const numberOf = (counter: Item, facet: string) => (counter[facet] as number | undefined) ?? 0;

/**
 * Returns the newest `limit` rows of each queried facet in one list, and the other rows, newest first. It returns no ULID
 * above `from`. An item whose facet changes during the queries can have a row in two of them; it is returned once.
 */
async function readRows(table: Table, query: ListQuery, from: string | undefined, limit: number): Promise<Row[]> {
  const { list, facets = [everything], since = '', others = [] } = query;
  const rowsByFacet = await Promise.all(
    facets.map(async (facet) => {
      const range = { pk: list.rows, from: `${facet}#${since}`, to: `${facet}#${from ?? '~'}`, limit };
      const found = await readRange(table, range);
      return found.map(({ pk, sk, [tableSchema.expiry]: expiry, ...entry }): Row => {
        return { ulid: (sk as string).slice(facet.length + 1), entry };
      });
    }),
  );
  const further = others.filter(({ ulid }) => ulid >= since && ulid <= (from ?? '~'));
  return newestOf([...rowsByFacet.flat(), ...further]);
}

/** Returns rows without duplicates, newest first. */
function newestOf(rows: readonly Row[]): Row[] {
  const unique = new Map(rows.map((row) => [row.ulid, row]));
  return [...unique.values()].sort((a, b) => descending(a.ulid, b.ulid));
}
