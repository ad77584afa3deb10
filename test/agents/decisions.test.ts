import { describe, expect, it } from 'vitest';
import { matching, patched } from '../../lib/agents/decisions.ts';
import type { StoredAgent } from '../../lib/table/agent-items.ts';
import { storedAgent } from '../table/agent-seed.ts';

type Patch = Parameters<typeof patched>[1];

const now = '2026-03-02T12:00:00.000Z';
const id = 'ag_01K00000000000000000000000';

const agentOf = (more: Partial<StoredAgent> = {}): StoredAgent =>
  storedAgent({
    id,
    description: 'Writes',
    systemPrompt: 'Write.',
    soul: 'Kind.',
    capabilities: ['text', 'tables'],
    version: 3,
    createdAt: '2026-03-01T12:00:00.000Z',
    updatedAt: '2026-03-01T12:00:00.000Z',
    ...more,
  });
const patchedBy = (agent: StoredAgent, patch: Patch) => patched(agent, patch, now);

describe('a patched agent', () => {
  it.each<[string, Patch]>([
    ['nothing', {}],
    ['its own values', { displayName: 'Writer', category: 'business', status: 'active', model: 'some.model' }],
    ['its own texts', { description: 'Writes', systemPrompt: 'Write.', soul: 'Kind.' }],
    ['its own capabilities', { capabilities: ['text', 'tables'] }],
    ['undefined', { displayName: undefined, description: undefined, model: undefined, soul: undefined }],
  ])('is the very same for %s', (_, patch) => {
    const agent = agentOf();
    expect(patchedBy(agent, patch)).toBe(agent);
  });

  it('is the very same where null writes what it has', () => {
    const { description: _, ...bare } = agentOf({ systemPrompt: '', soul: '' });
    expect(patchedBy(bare, { description: null, systemPrompt: null, soul: null })).toBe(bare);
  });

  it.each<Patch>([
    { displayName: 'Other' },
    { description: '' },
    { category: 'qa' },
    { model: 'other.model' },
    { systemPrompt: '' },
    { systemPrompt: 'Kind.' },
    { soul: 'Other.' },
    { capabilities: [] },
    { capabilities: ['tables', 'text'] },
    { status: 'inactive' },
  ])('has %j, the next version and the time of the change, and is else as it was', (patch) => {
    expect(patchedBy(agentOf(), patch)).toEqual({ ...agentOf(), ...patch, version: 4, updatedAt: now });
  });

  it('has no description where null clears it', () => {
    const changed = patchedBy(agentOf(), { description: null });
    expect(changed).not.toHaveProperty('description');
    expect(changed.version).toBe(4);
  });

  it('has an empty prompt and an empty soul where null stands for them', () => {
    const changed = patchedBy(agentOf(), { systemPrompt: null, soul: null });
    expect(changed).toMatchObject({ systemPrompt: '', soul: '', version: 4 });
  });

  it('leaves the agent that it was made of as it is', () => {
    const agent = agentOf();
    patchedBy(agent, { displayName: 'Other', description: null, capabilities: [] });
    expect(agent).toEqual(agentOf());
  });
});

describe('an agent is found', () => {
  const finds = (filter: Parameters<typeof matching>[0], more: Partial<StoredAgent> = {}) =>
    matching(filter)(agentOf(more));

  it('without a filter', () => {
    expect(finds({})).toBe(true);
  });

  it('by its category and its status, both', () => {
    expect(finds({ category: 'business', status: 'active' })).toBe(true);
    expect(finds({ category: 'qa', status: 'active' })).toBe(false);
    expect(finds({ category: 'business', status: 'draft' })).toBe(false);
  });

  it('by a search only where category and status are right, too', () => {
    expect(finds({ search: 'writer', status: 'active' })).toBe(true);
    expect(finds({ search: 'writer', status: 'draft' })).toBe(false);
    expect(finds({ search: 'writer', category: 'qa' })).toBe(false);
  });

  const searched = {
    name: 'code-reviewer',
    displayName: 'Élodie Straße ΟΔΟΣΗΜΑ İzmir 東京都',
    description: 'Reads diffs, and judges them; snake_case (C++) \u{10400}x ﬁne',
    systemPrompt: 'hidden',
    soul: 'hidden',
    model: 'hidden',
    capabilities: ['hidden'],
  };

  it.each([
    'code-reviewer',
    'reviewer code',
    'code',
    'rev',
    'CODE',
    'ｃｏｄｅ',
    'élodie',
    'ÉLO',
    'E\u0301lodie',
    'straße',
    'Stra',
    'diffs élodie code',
    'judges, them!',
    'them ; them',
    'case',
    'c++',
    'C',
    'İzmir',
    '東京',
    '\u{10428}',
    'fine',
    'FI',
    '  code  ',
    // Case folding knows no capital of its own for ß, nor another letter for the last sigma of a word.
    'STRASSE',
    'strasse',
    'ΟΔΟΣ',
    'οδος',
    'οδοσ',
  ])('by the search %j', (search) => {
    expect(finds({ search }, searched)).toBe(true);
  });

  it.each([
    'viewer',
    'code poet',
    'codereviewer',
    'elodie',
    'hidden',
    'business',
    'active',
    '京',
    'constructor',
    '.*',
    '[a-z]',
    '!!!',
    '-',
    '😀',
    '\u0000',
    '+',
  ])('not by the search %j', (search) => {
    expect(finds({ search }, searched)).toBe(false);
  });

  it('without a description by its names alone', () => {
    const { description: _, ...bare } = agentOf();
    expect(matching({ search: 'writer' })(bare)).toBe(true);
    expect(matching({ search: 'undefined' })(bare)).toBe(false);
  });
});
