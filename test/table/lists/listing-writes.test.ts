import { expect, it } from 'vitest';
import type { Organization } from '../../../lib/contract/organization.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { counterOf, everything, type ListMembership, listingWrites } from '../../../lib/table/lists/listing.ts';

const organization = 'org' as Organization;
const ulid = '01KE0000000000000000000004';
const all = keys.taskScope(organization, {});
const agents = keys.taskScope(organization, { agent: 'a' });

const membership = (facet: string, ...lists: ListMembership['lists']): ListMembership => ({ ulid, facet, lists });

/** Returns writes as short texts: the puts, the deletions and the changes of each counter. */
function inShort(writes: ReturnType<typeof listingWrites>): string[] {
  return writes.map((write) => {
    if ('Put' in write) return `put ${write.Put.Item?.pk} ${write.Put.Item?.sk}`;
    if ('Delete' in write) return `delete ${write.Delete.Key?.pk} ${write.Delete.Key?.sk}`;
    if (!('Update' in write)) return 'check';
    const { Key, ExpressionAttributeNames = {}, ExpressionAttributeValues = {} } = write.Update;
    const numbers = Object.values(ExpressionAttributeValues);
    const changes = Object.values(ExpressionAttributeNames).map((facet, at) => `${facet} ${numbers[at]}`);
    return `add ${Key?.pk} ${Key?.sk} ${changes.join(', ')}`;
  });
}

const rows = (change: 'put' | 'delete', pk: string, ...facets: string[]) =>
  facets.map((facet) => `${change} O#org#${pk} ${facet}#${ulid}`);
const entersAgents = [...rows('put', 'TA#a', '*', 'bm'), 'add O#org#C#TA#a 01KE#0 * 1, bm 1'];
const leavesAgents = [...rows('delete', 'TA#a', '*', 'bm'), 'add O#org#C#TA#a 01KE#0 * -1, bm -1'];
// The items of all tasks are one partition, so this list has no rows of all.
const entersAll = [...rows('put', 'TX', 'bm'), 'add O#org#C#TX 01KE#0 * 1, bm 1'];
const changesFacet = [...rows('delete', 'TX', 'bm'), ...rows('put', 'TX', 'dm'), 'add O#org#C#TX 01KE#0 bm -1, dm 1'];
const entersWithoutFacet = [...rows('put', 'TA#a', '*'), 'add O#org#C#TA#a 01KE#0 * 1'];

it.each<[string, ListMembership | undefined, ListMembership | undefined, string[]]>([
  ['enters a list: two rows and a counter', undefined, membership('bm', agents), entersAgents],
  ['leaves a list: two rows and a counter', membership('bm', agents), undefined, leavesAgents],
  ['enters the list of all: a row and a counter', undefined, membership('bm', all), entersAll],
  ['changes its facet: the old and the new row', membership('bm', all), membership('dm', all), changesFacet],
  ['stays in one of its lists: nothing there', membership('bm', all, agents), membership('bm', all), leavesAgents],
  ['enters without facets: a row', undefined, membership(everything, agents), entersWithoutFacet],
])('listingWrites for an item that %s', (_, before, after, writes) => {
  expect(inShort(listingWrites(before, after))).toEqual(writes);
});

const entryOf = (status: string) => ({ ...membership(status, agents), entry: { status } });

it('rows with an entry have the new entry for each facet after a change of the facet', () => {
  const writes = listingWrites(entryOf('running'), entryOf('completed'));
  const puts = writes.flatMap((write) => ('Put' in write ? [write.Put] : []));
  expect(puts.map(({ Item }) => [Item?.sk, Item?.status]).sort()).toEqual([
    [`*#${ulid}`, 'completed'],
    [`completed#${ulid}`, 'completed'],
  ]);
});

it('rows with an entry are written again without a change of the counter when only the entry changes', () => {
  const before = { ...membership('running', agents), entry: { tokens: 1 } };
  const writes = listingWrites(before, { ...before, entry: { tokens: 2 } });
  expect(inShort(writes)).toEqual([`put O#org#TA#a *#${ulid}`, `put O#org#TA#a running#${ulid}`]);
  expect(writes.map((write) => 'Put' in write && write.Put.Item?.tokens)).toEqual([2, 2]);
});

const lastLetters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

it('a period has one counter, whatever the ULIDs of its items', () => {
  const counters = [...lastLetters].flatMap((last) =>
    listingWrites(undefined, { ...membership('bm', all), ulid: ulid.slice(0, 25) + last }).flatMap((write) =>
      'Update' in write ? [write.Update.Key?.sk as string] : [],
    ),
  );
  expect(new Set(counters)).toEqual(new Set(['01KE#0']));
});

it('items leave a list together in four shards, and each gets the same share of ULIDs within a factor of two', () => {
  const shares = Map.groupBy(lastLetters, (last) => counterOf(ulid.slice(0, 25) + last));
  expect([...shares.keys()].sort()).toEqual(['01KE#0', '01KE#1', '01KE#2', '01KE#3']);
  const sizes = [...shares.values()].map(({ length }) => length);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(2 * Math.min(...sizes));
});
