import { beforeAll, describe, expect, it } from 'vitest';
import { listAgents } from '../../../lib/agents/agents.ts';
import { type AgentFilter, NewAgent } from '../../../lib/contract/agents.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { meter } from '../fixtures/capacity.ts';
import { createTestTable } from '../tasks/test-table.ts';
import { seedAgents, storedAgent } from './agent-seed.ts';

const { options: categories } = NewAgent.entries.category;
const { options: statuses } = NewAgent.entries.status.wrapped;
const turn = <Value>(values: readonly [Value, ...Value[]], nth: number) => values[nth % values.length] ?? values[0];

/** 2,000 agents with items of 1 KB. Their prompts and souls have 1 KB too, and must not be read. */
const agents = Array.from({ length: 2000 }, (_, nth) =>
  storedAgent(
    {
      name: `agent-${nth}`,
      displayName: `Number ${nth}`,
      description: `${nth % 7 === 0 ? 'Seventh' : 'Other'} ${'x'.repeat(550)}`,
      category: turn(categories, nth),
      status: turn(statuses, Math.floor(nth / categories.length)),
      systemPrompt: `Prompt ${nth} ${'p'.repeat(500)}`,
      soul: `Soul ${nth} ${'s'.repeat(500)}`,
    },
    Date.UTC(2026, 0, 1) + nth * 60_000,
  ),
);
const newestFirst = agents.toReversed();

const board = await createTestTable();
const { table } = board;
const { costOf } = meter(table);
const organization = 'many' as Organization;
const list = (filter: AgentFilter, offset: number) => listAgents(board, organization, filter, { limit: 20, offset });

beforeAll(() => seedAgents(table, organization, agents));

describe('a list of 2,000 agents', () => {
  it.each<[string, AgentFilter, (nth: number) => boolean]>([
    ['all', {}, () => true],
    ['the agents of a category', { category: turn(categories, 2) }, (nth) => nth % 6 === 2],
    [
      'the agents of a category and status',
      { category: turn(categories, 0), status: 'draft' },
      (nth) => nth % 18 === 12,
    ],
    ['the agents that match a search', { search: 'sevent' }, (nth) => nth % 7 === 0],
    ['the agent with a name', { search: 'agent-1999' }, (nth) => nth === 1999],
    ['none', { search: 'unknown' }, () => false],
  ])('has %s at every offset, and their number', async (_, filter, isMatch) => {
    const expected = newestFirst.filter((__, at) => isMatch(1999 - at)).map(({ id }) => id);
    for (const offset of [0, 20, Math.floor(expected.length / 2), Math.max(0, expected.length - 1), expected.length]) {
      const { items, total } = await list(filter, offset);
      expect({ offset, ids: items.map(({ id }) => id) }).toEqual({ offset, ids: expected.slice(offset, offset + 20) });
      expect(total).toBe(expected.length);
    }
  });

  it.each<[AgentFilter, number]>([
    [{}, 0],
    [{}, 1980],
    [{ category: 'qa', status: 'draft', search: 'number' }, 0],
  ])('by %j from %i costs two requests and at most 500 read units', async (filter, offset) => {
    const { requests, rcu, wcu } = await costOf(() => list(filter, offset));
    expect({ requests, wcu }).toEqual({ requests: 2, wcu: 0 });
    expect(rcu).toBeLessThanOrEqual(500);
  });
});
