import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Organization } from '../../lib/contract/organization.ts';
import { keys, type ListScope } from '../../lib/table/keys.ts';
import { listingWrites } from '../../lib/table/listing.ts';
import { calmWrites, createShards, mostShards, quietShards } from '../../lib/table/shards.ts';
import { transact } from '../../lib/table/transact.ts';
import type { Write } from '../../lib/table/write.ts';
import { cancelled } from './dynamodb-errors.ts';
import { type DynamoDBMock, failFirst, mockTable, tokensOf, transactionsOf } from './mock-table.ts';

const organization = 'org' as Organization;
const all = keys.taskScope(organization, {});
const agents = keys.taskScope(organization, { agent: 'a' });
const ulid = '01KE0000000000000000000004';

const entering = (...lists: ListScope[]) => listingWrites(undefined, { ulid, facet: 'bm', lists });

/** Which shard each counter among writes is in, by its list's partition. */
function lanesOf(writes: readonly Write[]): Record<string, number> {
  return Object.fromEntries(
    writes.flatMap((write) => {
      if (!('Update' in write)) return [];
      const { pk, sk } = write.Update.Key as { pk: string; sk: string };
      return [[pk, Number(sk.split('#')[1])]];
    }),
  );
}
const shardOf = (writes: readonly Write[], list = all) => lanesOf(writes)[list.counters] as number;
const countersAmong = (writes: readonly Write[]) => writes.filter((write) => 'Update' in write);

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a container', () => {
  it('writes a counter in the lane of what it counts, for as long as it meets nobody', () => {
    const shards = createShards();
    for (let nth = 0; nth < 100; nth++) expect(shardOf(shards.place(entering(all)))).toBe(shardOf(entering(all)));
    expect(shardOf(entering(all))).toBeLessThan(quietShards);
  });

  it('that meets another over a list spreads what it writes there over twice the lanes each time, up to the most', () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.999);
    const shards = createShards();
    const used = Array.from({ length: 6 }, () => {
      expect(shards.spread(countersAmong(entering(all)))).toBe(true);
      return shardOf(shards.place(entering(all)));
    });
    expect(used).toEqual([7, 15, 31, 63, 127, 127]);
    expect(mostShards).toBe(128);
    vi.mocked(Math.random).mockReturnValue(0);
    expect(shardOf(shards.place(entering(all)))).toBe(0);
  });

  it('spreads over half as many after some writes that met nobody, and then no more', () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.999);
    const shards = createShards();
    for (let met = 0; met < 3; met++) shards.spread(countersAmong(entering(all)));
    const used = Array.from({ length: 4 * calmWrites }, () => {
      const placed = shards.place(entering(all));
      shards.passed(placed);
      return shardOf(placed);
    });
    const quiet = shardOf(entering(all));
    expect(used).toEqual([31, 15, 7, quiet].flatMap((shard) => Array(calmWrites).fill(shard)));
  });

  it('spreads the lists that it has met another over, alike to one lane, and leaves the others alone', () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.999);
    const shards = createShards();
    shards.spread(countersAmong(entering(all)));
    const placed = shards.place(entering(all, agents));
    expect([shardOf(placed), shardOf(placed, agents)]).toEqual([7, shardOf(entering(agents), agents)]);
    const both = createShards();
    both.spread(countersAmong(entering(all, agents)));
    const together = both.place(entering(all, agents));
    expect([shardOf(together), shardOf(together, agents)]).toEqual([7, 7]);
  });

  it('spreads nothing for what is no counter', () => {
    const shards = createShards();
    const item: Write = { Update: { Key: { pk: 'p', sk: 's' }, UpdateExpression: 'ADD n :one' } };
    expect(shards.spread([item, ...entering(all).filter((write) => 'Put' in write)])).toBe(false);
    expect(shards.place([item])).toEqual([item]);
    expect(shardOf(shards.place(entering(all)))).toBe(shardOf(entering(all)));
  });

  it('changes nothing of a write but the lane', () => {
    const shards = createShards();
    shards.spread(countersAmong(entering(all)));
    const placed = shards.place(entering(all));
    const withoutLanes = (writes: readonly Write[]) =>
      JSON.stringify(writes).replaceAll(/"sk":"01KE#\d+"/g, '"sk":"01KE#"');
    expect(withoutLanes(placed)).toBe(withoutLanes(entering(all)));
  });
});

describe('a transaction that another holds', () => {
  const held = (nth: number) => entering(all).map((_, at) => (at === nth ? 'TransactionConflict' : 'None'));
  const countersOf = (dynamodb: DynamoDBMock) =>
    transactionsOf(dynamodb).flatMap(({ TransactItems = [] }) =>
      TransactItems.flatMap(({ Update }) => (Update?.Key?.sk as string | undefined) ?? []),
    );

  it('over a counter is tried in other lanes, each try under a token of its own', async () => {
    const { table, dynamodb } = mockTable();
    failFirst(dynamodb, ...Array(7).fill(cancelled(...held(1))));
    await transact(table, entering(all));
    expect(new Set(tokensOf(dynamodb)).size).toBe(8);
    expect(new Set(countersOf(dynamodb)).size).toBeGreaterThan(2);
  });

  it('over anything else is tried again as it is, under its token', async () => {
    const { table, dynamodb } = mockTable();
    failFirst(dynamodb, ...Array(7).fill(cancelled(...held(0))));
    await transact(table, entering(all));
    expect(dynamodb).toHaveReceivedCommandTimes(TransactWriteCommand, 8);
    expect(new Set(tokensOf(dynamodb)).size).toBe(1);
    expect(new Set(countersOf(dynamodb)).size).toBe(1);
  });
});
