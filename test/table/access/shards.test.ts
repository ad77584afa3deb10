import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Organization } from '../../../lib/contract/organization.ts';
import { keys, type ListScope } from '../../../lib/table/access/keys.ts';
import {
  createShards,
  maxShards,
  noteConflicts,
  noteNoConflict,
  placeCounters,
  writesBeforeHalving,
} from '../../../lib/table/access/shards.ts';
import { transact } from '../../../lib/table/access/transact.ts';
import type { Write } from '../../../lib/table/access/write.ts';
import { listingWrites } from '../../../lib/table/lists/listing.ts';
import { cancelled } from '../fixtures/dynamodb-errors.ts';
import { failFirst, mockTable, tokensOf, transactionsOf } from '../fixtures/mock-table.ts';

const organization = 'org' as Organization;
const all = keys.taskScope(organization, {});
const agents = keys.taskScope(organization, { agent: 'a' });
const ulid = '01KE0000000000000000000004';

const entering = (...lists: ListScope[]) => listingWrites(undefined, { ulid, facet: 'bm', lists });

const countersAmong = (writes: readonly Write[]) => writes.filter((write) => 'Update' in write);
/** Returns the shard of the counter of a list among writes. */
function shardOf(writes: readonly Write[], list = all): number {
  const counter = countersAmong(writes).find(({ Update: { Key } }) => Key?.pk === list.counters);
  return Number(String(counter?.Update.Key?.sk).split('#')[1]);
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a container', () => {
  it('writes a counter in one shard while there are no conflicts', () => {
    const shards = createShards();
    for (let nth = 0; nth < 100; nth++) expect(shardOf(placeCounters(shards, entering(all)))).toBe(0);
  });

  it('uses four shards of a list after a conflict, and doubles them after each further one, up to 128', () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.999);
    const shards = createShards();
    const used = Array.from({ length: 7 }, () => {
      expect(noteConflicts(shards, countersAmong(entering(all)))).toBe(true);
      return shardOf(placeCounters(shards, entering(all)));
    });
    expect(used).toEqual([3, 7, 15, 31, 63, 127, 127]);
    expect(maxShards).toBe(128);
    vi.mocked(Math.random).mockReturnValue(0);
    expect(shardOf(placeCounters(shards, entering(all)))).toBe(0);
  });

  it('halves the shards after each 16 writes without a conflict, and uses one again after four', () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.999);
    const shards = createShards();
    for (let nth = 0; nth < 3; nth++) noteConflicts(shards, countersAmong(entering(all)));
    const used = Array.from({ length: 4 * writesBeforeHalving }, () => {
      const placed = placeCounters(shards, entering(all));
      noteNoConflict(shards, placed);
      return shardOf(placed);
    });
    expect(used).toEqual([15, 7, 3, 0].flatMap((shard) => Array(writesBeforeHalving).fill(shard)));
  });

  it('uses more shards only of lists with a conflict, and uses the same shard in each of them', () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.999);
    const shards = createShards();
    noteConflicts(shards, countersAmong(entering(all)));
    const placed = placeCounters(shards, entering(all, agents));
    expect([shardOf(placed), shardOf(placed, agents)]).toEqual([3, 0]);
    const both = createShards();
    noteConflicts(both, countersAmong(entering(all, agents)));
    const together = placeCounters(both, entering(all, agents));
    expect([shardOf(together), shardOf(together, agents)]).toEqual([3, 3]);
  });

  it('changes no shards after a conflict over an item that is not a counter', () => {
    const shards = createShards();
    const item: Write = { Update: { Key: { pk: 'p', sk: 's' }, UpdateExpression: 'ADD n :one' } };
    expect(noteConflicts(shards, [item, ...entering(all).filter((write) => 'Put' in write)])).toBe(false);
    expect(placeCounters(shards, [item])).toEqual([item]);
    expect(shardOf(placeCounters(shards, entering(all)))).toBe(0);
  });
});

it.each([
  ['over a counter is retried in other shards, each try with its own token', ['None', 'TransactionConflict'], 8],
  ['over another item is retried unchanged, with the same token', ['TransactionConflict', 'None'], 1],
])('a transaction in conflict %s', async (_, reasons, tokens) => {
  const { table, dynamodb } = mockTable();
  failFirst(dynamodb, ...Array(7).fill(cancelled(...reasons)));
  await transact(table, entering(all));
  expect(new Set(tokensOf(dynamodb)).size).toBe(tokens);
  const counters = transactionsOf(dynamodb).map(({ TransactItems = [] }) => TransactItems[1]?.Update?.Key?.sk);
  expect(new Set(counters).size > 2).toBe(tokens > 1);
});
