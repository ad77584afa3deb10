import { describe, expect, it } from 'vitest';
import type { Organization } from '../../../lib/contract/organization.ts';
import { keys } from '../../../lib/table/keys.ts';
import { everything, type ListMembership, listingWrites } from '../../../lib/table/lists/listing.ts';

const organization = 'org' as Organization;
const ulid = '01KE0000000000000000000004';
const all = keys.taskScope(organization, {});
const agents = keys.taskScope(organization, { agent: 'a' });
const projects = keys.taskScope(organization, { project: 'p' });

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

describe('listingWrites', () => {
  it('puts two rows and adds to the counter for an item that enters a list', () => {
    expect(inShort(listingWrites(undefined, membership('bm', agents)))).toEqual([
      `put O#org#TA#a *#${ulid}`,
      `put O#org#TA#a bm#${ulid}`,
      'add O#org#C#TA#a 01KE#0 * 1, bm 1',
    ]);
  });

  it('deletes the rows and subtracts from the counter for an item that leaves a list', () => {
    expect(inShort(listingWrites(membership('bm', agents), undefined))).toEqual([
      `delete O#org#TA#a *#${ulid}`,
      `delete O#org#TA#a bm#${ulid}`,
      'add O#org#C#TA#a 01KE#0 * -1, bm -1',
    ]);
  });

  it('writes one row and the counter for an item that enters or leaves a list whose items are one partition', () => {
    expect(inShort(listingWrites(undefined, membership('bm', all)))).toEqual([
      `put O#org#TX bm#${ulid}`,
      'add O#org#C#TX 01KE#0 * 1, bm 1',
    ]);
    expect(inShort(listingWrites(membership('bm', all), undefined))).toEqual([
      `delete O#org#TX bm#${ulid}`,
      'add O#org#C#TX 01KE#0 * -1, bm -1',
    ]);
  });

  it('replaces one row and writes one counter for an item that changes its facet', () => {
    expect(inShort(listingWrites(membership('bm', all), membership('dm', all)))).toEqual([
      `delete O#org#TX bm#${ulid}`,
      `put O#org#TX dm#${ulid}`,
      'add O#org#C#TX 01KE#0 bm -1, dm 1',
    ]);
  });

  it('writes nothing to the list that an item stays in', () => {
    expect(inShort(listingWrites(membership('bm', all, agents), membership('bm', all, projects)))).toEqual([
      `delete O#org#TA#a *#${ulid}`,
      `delete O#org#TA#a bm#${ulid}`,
      'add O#org#C#TA#a 01KE#0 * -1, bm -1',
      `put O#org#TP#p *#${ulid}`,
      `put O#org#TP#p bm#${ulid}`,
      'add O#org#C#TP#p 01KE#0 * 1, bm 1',
    ]);
  });

  it('writes one row and the counter for an item without facets', () => {
    expect(inShort(listingWrites(undefined, membership(everything, agents)))).toEqual([
      `put O#org#TA#a *#${ulid}`,
      'add O#org#C#TA#a 01KE#0 * 1',
    ]);
  });
});

describe('rows with an entry', () => {
  const entryOf = (status: string) => ({ ...membership(status, agents), entry: { status } });

  it('have the new entry for each facet after a change of the facet', () => {
    const writes = listingWrites(entryOf('running'), entryOf('completed'));
    const puts = writes.flatMap((write) => ('Put' in write ? [write.Put] : []));
    expect(puts.map(({ Item }) => [Item?.sk, Item?.status]).sort()).toEqual([
      [`*#${ulid}`, 'completed'],
      [`completed#${ulid}`, 'completed'],
    ]);
  });

  it('are written again without a change of the counter when only the entry changes', () => {
    const before = { ...membership('running', agents), entry: { tokens: 1 } };
    const writes = listingWrites(before, { ...before, entry: { tokens: 2 } });
    expect(inShort(writes)).toEqual([`put O#org#TA#a *#${ulid}`, `put O#org#TA#a running#${ulid}`]);
    expect(writes.map((write) => 'Put' in write && write.Put.Item?.tokens)).toEqual([2, 2]);
  });
});

describe('shards', () => {
  const counterOf = (id: string) => {
    const writes = listingWrites(undefined, { ...membership('bm', all), ulid: id });
    return writes.flatMap((write) => ('Update' in write ? [write.Update.Key?.sk as string] : []))[0];
  };
  const everyLastCharacter = [...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'].map((character) => ulid.slice(0, 25) + character);

  it('are four for all last characters of a ULID', () => {
    expect([...new Set(everyLastCharacter.map(counterOf))].sort()).toEqual(['01KE#0', '01KE#1', '01KE#2', '01KE#3']);
  });

  it('get the same share of ULIDs within a factor of two', () => {
    const shares = Map.groupBy(everyLastCharacter, counterOf)
      .values()
      .map((ids) => ids.length);
    const sorted = [...shares].sort((a, b) => a - b);
    expect(sorted.at(-1)).toBeLessThanOrEqual(2 * (sorted[0] ?? 0));
  });
});
