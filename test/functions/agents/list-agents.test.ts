import { describe, expect, it } from 'vitest';
import type { AgentListItem } from '../../../lib/contract/agents/agents.ts';
import { paginationOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { seedAgents, storedAgent } from '../../table/agents/agent-seed.ts';
import { createTestAgents, itemsOf } from './test-agents.ts';

const { newAgentsApi, service } = await createTestAgents();
const api = newForEachTest(newAgentsApi);

describe('a list', () => {
  it('returns exactly nine fields, in their order, without an unset description', async () => {
    await api.put({ name: 'bare' });
    await api.put({ name: 'full', description: 'd', systemPrompt: 'p', soul: 's', capabilities: ['c'] });
    const items = itemsOf(await api.list());
    const keysOf = (name: string) => Object.keys(items.find((item) => item.name === name) as AgentListItem);
    const first = ['id', 'name', 'displayName'];
    const others = ['category', 'model', 'status', 'capabilities', 'createdAt'];
    expect(keysOf('full')).toEqual([...first, 'description', ...others]);
    expect(keysOf('bare')).toEqual([...first, ...others]);
  });

  it('of a new organization has its two system agents, and nothing of another organization', async () => {
    await (await newAgentsApi()).put();
    const answer = await api.list();
    expect(Object.keys(answer.body)).toEqual(['success', 'data', 'pagination']);
    expect(answer.headers).not.toHaveProperty('ETag');
    expect(paginationOf(answer)).toEqual({ limit: 20, offset: 0, total: 2 });
    const names = itemsOf(answer).map(({ name }) => name);
    expect(names.sort()).toEqual(['prompt-improver', 'qa-reviewer']);
  });

  it('can be filtered by category, status and words at once, and has each change immediately', async () => {
    await api.put();
    await api.put({ name: 'second', displayName: 'Writer of code', category: 'development' });
    await api.update('writer', { displayName: 'New writer', status: 'draft', description: null });
    const query = 'category=business&status=draft&search=WRIT%20new';
    expect(itemsOf(await api.list(query))).toMatchObject([
      { name: 'writer', displayName: 'New writer', status: 'draft' },
    ]);
    expect(paginationOf(await api.list(query)).total).toBe(1);
    for (const none of ['category=qa&search=writer', 'status=inactive&search=writer', 'search=older%20writer'])
      expect(itemsOf(await api.list(none))).toEqual([]);
    expect(paginationOf(await api.list('search=writ')).total).toBe(2);
  });

  it('is newest first, ties by descending id, in pages', async () => {
    const times = Array.from({ length: 9 }, (_, nth) => Date.UTC(2026, 0, 1, 0, 0, Math.floor(nth / 3)));
    const agents = times.map((time, nth) => storedAgent({ name: `agent-${nth}`, category: 'research' }, time));
    await seedAgents(service.table, api.organization, agents);
    const ids = agents.map(({ id }) => id).toSorted();
    ids.reverse();
    for (const offset of [0, 2, 8, 9]) {
      const page = await api.list(`category=research&limit=5&offset=${offset}`);
      expect(itemsOf(page).map(({ id }) => id)).toEqual(ids.slice(offset, offset + 5));
      expect(paginationOf(page)).toEqual({ limit: 5, offset, total: 9 });
    }
  });
});
