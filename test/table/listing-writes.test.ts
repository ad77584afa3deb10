import { describe, expect, it } from 'vitest';
import type { Organization } from '../../lib/contract/organization.ts';
import { keys } from '../../lib/table/keys.ts';
import { everything, type ListMembership, listingWrites, ulidPeriods } from '../../lib/table/listing.ts';

const organization = 'org' as Organization;
const ulid = '01KE0000000000000000000004';
const all = keys.taskScope(organization, {});
const agents = keys.taskScope(organization, { agent: 'a' });
const projects = keys.taskScope(organization, { project: 'p' });

const membership = (facet: string, ...lists: ListMembership['lists']): ListMembership => ({ ulid, facet, lists });

/** Writes in short: what is put, what is deleted, what each counter is added. */
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

describe('the writes of a thing that', () => {
  it('enters a list are two rows and its counter', () => {
    expect(inShort(listingWrites(undefined, membership('bm', agents)))).toEqual([
      `put O#org#TA#a *#${ulid}`,
      `put O#org#TA#a bm#${ulid}`,
      'add O#org#C#TA#a 01KE#0 * 1, bm 1',
    ]);
  });

  it('leaves a list are the same taken back', () => {
    expect(inShort(listingWrites(membership('bm', agents), undefined))).toEqual([
      `delete O#org#TA#a *#${ulid}`,
      `delete O#org#TA#a bm#${ulid}`,
      'add O#org#C#TA#a 01KE#0 * -1, bm -1',
    ]);
  });

  it('enters or leaves a list whose things are a partition are the row of its cell and its counter', () => {
    expect(inShort(listingWrites(undefined, membership('bm', all)))).toEqual([
      `put O#org#TX bm#${ulid}`,
      'add O#org#C#TX 01KE#0 * 1, bm 1',
    ]);
    expect(inShort(listingWrites(membership('bm', all), undefined))).toEqual([
      `delete O#org#TX bm#${ulid}`,
      'add O#org#C#TX 01KE#0 * -1, bm -1',
    ]);
  });

  it('changes its cell are one row for another, and one counter that takes from one cell what it gives the other', () => {
    expect(inShort(listingWrites(membership('bm', all), membership('dm', all)))).toEqual([
      `delete O#org#TX bm#${ulid}`,
      `put O#org#TX dm#${ulid}`,
      'add O#org#C#TX 01KE#0 bm -1, dm 1',
    ]);
  });

  it('goes from one list to another leave alone the list that it stays in', () => {
    expect(inShort(listingWrites(membership('bm', all, agents), membership('bm', all, projects)))).toEqual([
      `delete O#org#TA#a *#${ulid}`,
      `delete O#org#TA#a bm#${ulid}`,
      'add O#org#C#TA#a 01KE#0 * -1, bm -1',
      `put O#org#TP#p *#${ulid}`,
      `put O#org#TP#p bm#${ulid}`,
      'add O#org#C#TP#p 01KE#0 * 1, bm 1',
    ]);
  });

  it('changes list and cell together are those of both', () => {
    expect(inShort(listingWrites(membership('bm', all, agents), membership('dm', all, projects)))).toEqual([
      `delete O#org#TX bm#${ulid}`,
      `put O#org#TX dm#${ulid}`,
      'add O#org#C#TX 01KE#0 bm -1, dm 1',
      `delete O#org#TA#a *#${ulid}`,
      `delete O#org#TA#a bm#${ulid}`,
      'add O#org#C#TA#a 01KE#0 * -1, bm -1',
      `put O#org#TP#p *#${ulid}`,
      `put O#org#TP#p dm#${ulid}`,
      'add O#org#C#TP#p 01KE#0 * 1, dm 1',
    ]);
  });

  it('stays where it stands are none', () => {
    expect(listingWrites(membership('bm', all, agents), membership('bm', all, agents))).toEqual([]);
  });

  it('has no cells are one row and its counter', () => {
    expect(inShort(listingWrites(undefined, membership(everything, agents)))).toEqual([
      `put O#org#TA#a *#${ulid}`,
      'add O#org#C#TA#a 01KE#0 * 1',
    ]);
  });
});

describe('rows that carry their entry', () => {
  const entryOf = (status: string) => ({ ...membership(status, agents), entry: { status } });

  it('carry it in each run', () => {
    const puts = listingWrites(undefined, entryOf('running')).flatMap((write) => ('Put' in write ? [write.Put] : []));
    expect(puts.map(({ Item }) => Item?.status)).toEqual(['running', 'running']);
  });

  it('carry the new one in each run when the cell changes', () => {
    const writes = listingWrites(entryOf('running'), entryOf('completed'));
    const puts = writes.flatMap((write) => ('Put' in write ? [write.Put] : []));
    expect(puts.map(({ Item }) => [Item?.sk, Item?.status]).sort()).toEqual([
      [`*#${ulid}`, 'completed'],
      [`completed#${ulid}`, 'completed'],
    ]);
  });
});

describe('rows that carry an entry which changes where it stands', () => {
  it('are written anew, and nothing is counted', () => {
    const before = { ...membership('running', agents), entry: { tokens: 1 } };
    const writes = listingWrites(before, { ...before, entry: { tokens: 2 } });
    expect(inShort(writes)).toEqual([`put O#org#TA#a *#${ulid}`, `put O#org#TA#a running#${ulid}`]);
    expect(writes.map((write) => 'Put' in write && write.Put.Item?.tokens)).toEqual([2, 2]);
  });
});

describe('rows and counters that expire', () => {
  it('carry the moment, in seconds since 1970', () => {
    const writes = listingWrites(undefined, membership('bm', agents), { expiresAt: 1_800_000_000 });
    const moments = writes.map((write) => {
      if ('Put' in write) return write.Put.Item?.expiresAt;
      return 'Update' in write && write.Update.ExpressionAttributeValues?.[':expiry'];
    });
    expect(moments).toEqual([1_800_000_000, 1_800_000_000, 1_800_000_000]);
  });
});

describe('periods', () => {
  it('are the first four characters of a ULID', () => {
    expect(ulidPeriods.of('01KEZZ00000000000000000000')).toBe('01KE');
  });

  it('end with the greatest ULID that they can hold', () => {
    expect(ulidPeriods.last('01KE')).toBe('01KEZZZZZZZZZZZZZZZZZZZZZZ');
  });
});

describe('shards', () => {
  const counterOf = (id: string) => {
    const writes = listingWrites(undefined, { ...membership('bm', all), ulid: id });
    return writes.flatMap((write) => ('Update' in write ? [write.Update.Key?.sk as string] : []))[0];
  };
  const everyLastLetter = [...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'].map((letter) => ulid.slice(0, 25) + letter);

  it('are four, whatever letter a ULID ends with', () => {
    expect([...new Set(everyLastLetter.map(counterOf))].sort()).toEqual(['01KE#0', '01KE#1', '01KE#2', '01KE#3']);
  });

  it('are alike in their share of ids, within a factor of two', () => {
    const shares = Map.groupBy(everyLastLetter, counterOf)
      .values()
      .map((ids) => ids.length);
    const sorted = [...shares].sort((a, b) => a - b);
    expect(sorted.at(-1)).toBeLessThanOrEqual(2 * (sorted[0] ?? 0));
  });
});
