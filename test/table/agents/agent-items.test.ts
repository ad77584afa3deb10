import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Organization } from '../../../lib/contract/organization.ts';
import {
  agentFrom,
  agentItem,
  headOf,
  textItems,
  textKeys,
  wholeAgent,
} from '../../../lib/table/agents/agent-items.ts';
import { storedAgent } from './agent-seed.ts';

const organization = 'org' as Organization;
const agent = storedAgent({ description: 'd', systemPrompt: 'Grüße 😀\u0000', soul: 'Kind.', capabilities: ['c'] });
const ulid = agent.id.slice(3);
const sha256 = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

it.each([agent, storedAgent()])('an agent is the same after it was stored: %#', (stored) => {
  const item = agentItem(organization, headOf(stored));
  const head = agentFrom({ ...item, createdAt: '1999-01-01T00:00:00.000Z' }, 'other.model');
  expect(head).toEqual(headOf(stored));
  expect(wholeAgent(head, textItems(organization, stored))).toEqual(stored);
  for (const text of ['Kind.', 'Grüße']) expect(JSON.stringify(item)).not.toContain(text);
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

  it('is not stored if it is empty, and once if it is prompt and soul', () => {
    const bare = storedAgent();
    expect([textItems(organization, bare), textKeys(organization, headOf(bare))]).toEqual([[], []]);
    expect(agentItem(organization, headOf(bare))).not.toHaveProperty('promptHash');
    expect(agentItem(organization, headOf(bare))).not.toHaveProperty('soulHash');
    const twice = storedAgent({ systemPrompt: 'Both.', soul: 'Both.' });
    const items = textItems(organization, twice);
    expect([items.length, textKeys(organization, headOf(twice)).length]).toEqual([1, 1]);
    expect(wholeAgent(headOf(twice), items)).toEqual(twice);
  });

  it('is an error with its hash and the agent’s id if it is missing', () => {
    const [prompt] = textItems(organization, agent);
    expect(() => wholeAgent(headOf(agent), prompt ? [prompt] : [])).toThrow(
      `The text ${sha256('Kind.')} of agent ${agent.id} is missing.`,
    );
  });
});
