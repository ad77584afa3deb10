import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Organization } from '../../../lib/contract/organization.ts';
import { agentFrom, agentItem, headOf, textItems, textKeys, wholeAgent } from '../../../lib/table/agents/agent-items.ts';
import { storedAgent } from './agent-seed.ts';

const organization = 'org' as Organization;
const agent = storedAgent({ description: 'd', systemPrompt: 'Grüße 😀\u0000', soul: 'Kind.', capabilities: ['c'] });
const ulid = agent.id.slice(3);
const sha256 = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

describe('an agent', () => {
  it('is the same after it was stored', () => {
    const head = agentFrom(agentItem(organization, headOf(agent)), 'other.model');
    expect(head).toEqual(headOf(agent));
    expect(wholeAgent(head, textItems(organization, agent))).toEqual(agent);
  });

  it('without texts and description is the same after it was stored', () => {
    const bare = storedAgent();
    const head = agentFrom(agentItem(organization, headOf(bare)), 'other.model');
    expect(head).not.toHaveProperty('description');
    expect(wholeAgent(head, [])).toEqual(bare);
  });

  it('of a version without models has the default model, no texts and no capabilities', () => {
    const item = {
      pk: 'O#org#A',
      sk: 'qa-reviewer',
      kind: 'agent',
      id: agent.id,
      name: 'qa-reviewer',
      displayName: 'QA reviewer',
      description: '',
      category: 'qa',
      status: 'active',
      isSystem: true,
      version: 1,
      updatedAt: '2026-01-01T00:00:00.000Z',
    };
    const head = agentFrom(item, 'default.model');
    const { pk: _, sk: __, kind: ___, ...kept } = item;
    const filled = { model: 'default.model', capabilities: [], createdAt: '2026-01-01T00:00:00.000Z' };
    expect(wholeAgent(head, [])).toEqual({ ...kept, ...filled, systemPrompt: '', soul: '' });
    expect(textKeys(organization, head)).toEqual([]);
  });

  it('has the time of its id as its time of creation', () => {
    const item = { ...agentItem(organization, headOf(agent)), createdAt: '1999-01-01T00:00:00.000Z' };
    expect(agentFrom(item, '').createdAt).toBe('2026-01-01T00:00:00.000Z');
  });
});

describe('a text', () => {
  it('has the SHA-256 of its UTF-8 bytes as its hash', () => {
    const { promptHash, soulHash } = headOf(agent);
    expect([promptHash, soulHash]).toEqual([sha256(agent.systemPrompt), sha256(agent.soul)]);
    expect(headOf(storedAgent({ systemPrompt: 'abc' })).promptHash).toBe(
      'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
  });

  it('is stored under its hash in the partition of its agent', () => {
    expect(textItems(organization, agent)).toEqual([
      { pk: `O#org#AP#${ulid}`, sk: sha256(agent.systemPrompt), text: agent.systemPrompt },
      { pk: `O#org#AP#${ulid}`, sk: sha256('Kind.'), text: 'Kind.' },
    ]);
    const itemKeys = textItems(organization, agent).map(({ pk, sk }) => ({ pk, sk }));
    expect(textKeys(organization, headOf(agent))).toEqual(itemKeys);
  });

  it('is not stored if it is empty', () => {
    const bare = storedAgent();
    expect(textItems(organization, bare)).toEqual([]);
    expect(textKeys(organization, headOf(bare))).toEqual([]);
    expect(agentItem(organization, headOf(bare))).not.toHaveProperty('promptHash');
    expect(agentItem(organization, headOf(bare))).not.toHaveProperty('soulHash');
  });

  it('is stored once if it is prompt and soul', () => {
    const twice = storedAgent({ systemPrompt: 'Both.', soul: 'Both.' });
    const items = textItems(organization, twice);
    expect(items).toHaveLength(1);
    expect(textKeys(organization, headOf(twice))).toHaveLength(1);
    expect(wholeAgent(headOf(twice), items)).toEqual(twice);
  });

  it('is an error with its hash and the agent’s id if it is missing', () => {
    const [prompt] = textItems(organization, agent);
    expect(() => wholeAgent(headOf(agent), prompt ? [prompt] : [])).toThrow(
      `The text ${sha256('Kind.')} of agent ${agent.id} is missing.`,
    );
  });
});
