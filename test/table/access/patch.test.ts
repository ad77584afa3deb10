import { describe, expect, it } from 'vitest';
import { applyPatch, changedFields, updateOf } from '../../../lib/table/access/patch.ts';

type Stored = { id: string; title: string; note?: string; tags?: string[]; place?: { x: number; y: number } };

const stored: Stored = { id: '1', title: 'A', note: 'n', tags: ['a', 'b'], place: { x: 1, y: 2 } };

describe('a patch', () => {
  it.each<[string, Parameters<typeof applyPatch<Stored, Partial<Stored>>>[1]]>([
    ['nothing', {}],
    ['undefined', { title: undefined as never, note: undefined as never }],
    ['equal values', { title: 'A', tags: ['a', 'b'], place: { y: 2, x: 1 } }],
  ])('of %s returns the same object', (_, patch) => {
    expect(applyPatch(stored, patch)).toBe(stored);
  });

  it('of null for an absent field returns the same object', () => {
    const bare: Stored = { id: '1', title: 'A' };
    expect(applyPatch(bare, { note: null, tags: null })).toBe(bare);
  });

  it('replaces, removes and keeps fields, and leaves the object that it changes as it is', () => {
    const before = structuredClone(stored);
    const after = applyPatch(stored, { title: 'B', note: null, tags: ['b', 'a'] });
    expect(after).toStrictEqual({ id: '1', title: 'B', tags: ['b', 'a'], place: { x: 1, y: 2 } });
    expect(stored).toEqual(before);
  });

  it('has no field that the object does not have, and null only where a field can be absent', () => {
    // @ts-expect-error: it would be accepted and not stored
    applyPatch(stored, { unknown: 'x' });
    // @ts-expect-error: every object has a title
    applyPatch(stored, { title: null });
  });
});

describe('an update', () => {
  it('has the fields that differ, also those that are gone, without those that are stored in another way', () => {
    const { note, ...rest } = stored;
    const after = { ...rest, id: '2', title: 'B', place: { x: 1, y: 2 } };
    expect(changedFields<Stored>(stored, after, ['id'])).toStrictEqual({ title: 'B', note: undefined });
  });

  it('sets and removes attributes', () => {
    expect(updateOf({ title: 'B', note: undefined, tags: [] })).toEqual({
      UpdateExpression: 'SET #title = :new_title, #tags = :new_tags REMOVE #note',
      ExpressionAttributeNames: { '#title': 'title', '#note': 'note', '#tags': 'tags' },
      ExpressionAttributeValues: { ':new_title': 'B', ':new_tags': [] },
    });
  });
});
