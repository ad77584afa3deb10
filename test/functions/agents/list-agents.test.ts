import { beforeEach, describe, expect, it } from 'vitest';
import { type AgentListItem, NewAgent } from '../../../lib/contract/agents.ts';
import { errorOf, paginationOf } from '../../api.ts';
import { fc } from '../../seeded.ts';
import { seedAgents, storedAgent } from '../../table/agents/agent-seed.ts';
import { type AgentsApi, createTestAgents, itemsOf } from './test-agents.ts';

const { newAgentsApi, service } = await createTestAgents();
let api: AgentsApi;
beforeEach(async () => {
  api = await newAgentsApi();
});

const { category, status } = NewAgent.entries;
const { options: categories } = category;
const { options: statuses } = status.wrapped;

describe('a list', () => {
  it('returns exactly nine fields, in their order, without an unset description', async () => {
    await api.put({ name: 'bare' });
    await api.put({ name: 'full', description: 'd', systemPrompt: 'p', soul: 's', capabilities: ['c'] });
    const items = itemsOf(await api.list());
    const [bare, full] = ['bare', 'full'].map((name) => items.find((item) => item.name === name) as AgentListItem);
    const nine = [
      'id',
      'name',
      'displayName',
      'description',
      'category',
      'model',
      'status',
      'capabilities',
      'createdAt',
    ];
    expect(Object.keys(full as object)).toEqual(nine);
    expect(Object.keys(bare as object)).toEqual(nine.filter((field) => field !== 'description'));
    expect(bare?.capabilities).toEqual([]);
  });

  it('of a new organization has its two system agents', async () => {
    const answer = await api.list();
    expect(Object.keys(answer.body)).toEqual(['success', 'data', 'pagination']);
    expect(answer.headers).not.toHaveProperty('ETag');
    expect(paginationOf(answer)).toEqual({ limit: 20, offset: 0, total: 2 });
    const names = itemsOf(answer).map(({ name }) => name);
    expect(names.sort()).toEqual(['prompt-improver', 'qa-reviewer']);
  });

  it('has an agent immediately after its create, and after a change with the new fields', async () => {
    await api.put();
    await api.update('writer', { displayName: 'New', status: 'draft', description: null });
    const [item] = itemsOf(await api.list('search=writer&status=draft'));
    expect(item).toMatchObject({ name: 'writer', displayName: 'New', status: 'draft' });
  });

  it('has nothing of another organization', async () => {
    const other = await newAgentsApi();
    await other.put();
    expect(itemsOf(await api.list('search=writer'))).toEqual([]);
    expect(paginationOf(await api.list()).total).toBe(2);
  });

  it('is newest first, ties by descending id, with 20 items by default', async () => {
    const times = Array.from({ length: 30 }, (_, nth) => Date.UTC(2026, 0, 1, 0, 0, Math.floor(nth / 6)));
    const agents = times.map((time, nth) => storedAgent({ name: `agent-${nth}`, category: 'research' }, time));
    await seedAgents(service.table, api.organization, agents);
    const ids = agents
      .map(({ id }) => id)
      .sort()
      .reverse();
    const pages = [];
    for (const offset of [0, 20, 40]) pages.push(await api.list(`category=research&offset=${offset}`));
    expect(pages.map((page) => itemsOf(page).map(({ id }) => id))).toEqual([ids.slice(0, 20), ids.slice(20), []]);
    expect(pages.map(paginationOf)).toEqual([0, 20, 40].map((offset) => ({ limit: 20, offset, total: 30 })));
    const some = await api.list('category=research&limit=7&offset=3');
    expect(itemsOf(some).map(({ id }) => id)).toEqual(ids.slice(3, 10));
  });

  it('has 100 items at most, and returns that limit', async () => {
    const agents = Array.from({ length: 105 }, (_, nth) => storedAgent({ name: `agent-${nth}` }));
    await seedAgents(service.table, api.organization, agents);
    for (const limit of ['100', '99999999999999999999']) {
      const answer = await api.list(`limit=${limit}`);
      expect(itemsOf(answer)).toHaveLength(100);
      expect(paginationOf(answer)).toEqual({ limit: 100, offset: 0, total: 107 });
    }
    const far = await api.list('offset=999999999999999');
    expect([itemsOf(far), paginationOf(far).total]).toEqual([[], 107]);
  });
});

/** Words in several spellings, each with its normal form. */
const words = [
  { plain: 'éclair', spelled: ['éclair', 'Éclair', 'ÉCLAIR', 'E\u0301clair'] },
  { plain: 'write', spelled: ['write', 'Write', 'WRITE', 'Ｗｒｉｔｅ'] },
  { plain: 'writer', spelled: ['writer', 'Writer'] },
  { plain: 'größe', spelled: ['größe', 'Größe'] },
  { plain: '東京', spelled: ['東京'] },
  { plain: 'яблоко', spelled: ['яблоко', 'ЯБЛОКО'] },
  { plain: '42', spelled: ['42', '４２'] },
] as const;

/** Words of a text, and the text: the words with anything between them that is no letter or digit. */
const text = fc
  .array(fc.tuple(fc.constantFrom(...words), fc.nat(3), fc.constantFrom(' ', ', ', '-', '/', '_', '\n', ' 😀 ', '.')), {
    minLength: 1,
    maxLength: 5,
  })
  .map((parts) => ({
    plain: parts.map(([{ plain }]) => plain),
    text: parts.map(([{ spelled }, nth, gap]) => `${spelled[nth % spelled.length]}${gap}`).join(''),
  }));

const agents = fc.array(
  fc.record(
    {
      category: fc.constantFrom(...categories),
      status: fc.constantFrom(...statuses),
      displayName: text,
      description: text,
    },
    { requiredKeys: ['category', 'status', 'displayName'] },
  ),
  { minLength: 90, maxLength: 110 },
);

/** An agent, and the normal forms of its words. */
type Known = { item: AgentListItem; plain: readonly string[] };

/** A search of up to three beginnings of words, each in one of its spellings. */
const search = fc
  .array(fc.tuple(fc.constantFrom(...words), fc.nat(3), fc.integer({ min: 1, max: 7 })), { minLength: 1, maxLength: 3 })
  .map((parts) => {
    const prefixes = parts.map(([{ spelled }, nth, length]) =>
      (spelled[nth % spelled.length] ?? '').normalize('NFC').slice(0, length),
    );
    return { sent: prefixes.join(' '), plain: prefixes.map((prefix) => prefix.normalize('NFKC').toLowerCase()) };
  });

const query = fc.record(
  { category: fc.constantFrom(...categories), status: fc.constantFrom(...statuses), search },
  { requiredKeys: [] },
);
const queries = fc.array(query, { minLength: 30, maxLength: 30 });
type Query = typeof query extends fc.Arbitrary<infer Value> ? Value : never;

/** Returns the ids of all agents that match a query, newest first. */
function listed(agents: readonly Known[], { search: sought, ...rest }: Query): string[] {
  return agents
    .filter(({ item }) => !rest.category || item.category === rest.category)
    .filter(({ item }) => !rest.status || item.status === rest.status)
    .filter(({ plain }) => !sought || sought.plain.every((prefix) => plain.some((word) => word.startsWith(prefix))))
    .map(({ item }) => item.id)
    .sort()
    .reverse();
}

it('any combination of filters finds the matching agents', async () => {
  const property = fc.asyncProperty(agents, queries, async (made, asked) => {
    const { organization, ...caller } = await newAgentsApi();
    const system = itemsOf(await caller.list()).map((item) => ({
      item,
      plain: `${item.name} ${item.displayName} ${item.description}`.toLowerCase().split(/[^a-z]+/),
    }));
    const others = made.map(({ displayName, description, ...rest }, nth) => ({
      item: storedAgent({
        ...rest,
        name: `write-${nth}`,
        displayName: displayName.text,
        ...(description && { description: description.text }),
      }),
      plain: ['write', `${nth}`, ...displayName.plain, ...(description?.plain ?? [])],
    }));
    await seedAgents(
      service.table,
      organization,
      others.map(({ item }) => item),
    );
    const check = async (query: Query) => {
      const { search: sought, ...rest } = query;
      const sent = new URLSearchParams({ ...rest, ...(sought && { search: sought.sent }), limit: '100' }).toString();
      const answer = await caller.list(sent);
      const ids = listed([...system, ...others], query);
      expect({ sent, ids: itemsOf(answer).map(({ id }) => id) }).toEqual({ sent, ids: ids.slice(0, 100) });
      expect(paginationOf(answer)).toEqual({ limit: 100, offset: 0, total: ids.length });
    };
    await Promise.all(asked.map(check));
  });
  await fc.assert(property, { numRuns: 1, endOnFailure: true });
});

describe('a list is rejected', () => {
  it('with 400 validation_failed for an invalid value, a repeated parameter and an unknown parameter', async () => {
    for (const [sent, path] of [
      ['category=Business', 'category'],
      ['status=deleted', 'status'],
      ['status=active&status=draft', 'status'],
      ['search=', 'search'],
      ['limit=0', 'limit'],
      ['offset=-1', 'offset'],
      ['isSystem=true', 'isSystem'],
    ]) {
      const answer = await api.list(sent);
      expect([sent, answer.status]).toEqual([sent, 400]);
      expect(errorOf(answer)).toMatchObject({ code: 'validation_failed', details: [{ path }] });
    }
  });

  it('with 401 without a token and 403 without agents:read', async () => {
    const writer = await newAgentsApi(['agents:write', 'agents:execute', 'tasks:read']);
    await writer.refuses(() => writer.list('limit=0', { token: '' }), 401, 'unauthorized');
    await writer.refuses(() => writer.list('limit=0'), 403, 'insufficient_scope');
  });
});
