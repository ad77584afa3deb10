import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, it } from 'vitest';
import { updateAgent } from '../../lib/agents/agents.ts';
import { getPrompt, listPrompts, restorePrompt } from '../../lib/agents/prompts.ts';
import { scopes } from '../../lib/contract/endpoint.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { hashOf, promptChangeItem, type StoredAgent } from '../../lib/table/agents/agent-items.ts';
import { insertAgent } from '../../lib/table/agents/agents.ts';
import { storedAgent } from '../table/agents/agent-seed.ts';
import { watchedTable } from '../table/fixtures/watched-table.ts';
import { always, createTestTable, errorOf, newOrganization } from '../table/tasks/test-table.ts';

const test = await createTestTable();
const context = { ...test, ...test.app, defaultModel: 'default.model', allowedModels: undefined };
const { table } = context;
let organization: Organization;

beforeEach(() => {
  organization = newOrganization();
});

const list = () => listPrompts(context, organization, 'writer', { limit: 20, offset: 0 });
const get = (text: string) => getPrompt(context, organization, 'writer', hashOf(text));
const restore = (text: string, through = table) =>
  restorePrompt({ ...context, table: through }, organization, 'writer', hashOf(text), always, undefined, scopes);
const update = (patch: { systemPrompt: string } | { soul: string }) =>
  updateAgent(context, organization, 'writer', patch, always, scopes);

/** Inserts an agent as a version of the service without changes of prompts stored it. */
async function insertEarlyAgent(version: number): Promise<StoredAgent> {
  const agent = storedAgent({ systemPrompt: 'Write.', soul: 'Kind.', version });
  await insertAgent(context, organization, agent, undefined);
  const { pk, sk } = promptChangeItem(organization, agent, { why: 'created' });
  await table.client.send(new DeleteCommand({ TableName: table.name, Key: { pk, sk } }));
  return agent;
}

it('an agent of an early version lists its current prompt with what is known about it', async () => {
  const { createdAt } = await insertEarlyAgent(1);
  const first = { hash: hashOf('Write.'), version: 1, createdAt, source: 'create' };
  expect(await list()).toEqual({ items: [first], total: 1 });
  expect(await get('Write.')).toEqual({ ...first, systemPrompt: 'Write.' });
});

it('a prompt of an early version without a time can be read and restored after a change', async () => {
  await insertEarlyAgent(5);
  expect(await list()).toEqual({ items: [{ hash: hashOf('Write.') }], total: 1 });
  await update({ systemPrompt: 'Read.' });
  expect(await list()).toMatchObject({ items: [{ hash: hashOf('Read.'), version: 6, source: 'update' }], total: 1 });
  expect(await get('Write.')).toEqual({ hash: hashOf('Write.'), systemPrompt: 'Write.' });
  for (const text of ['Kind.', '']) expect((await errorOf(get(text)))?.code).toBe('not_found');
  expect(await restore('Write.')).toMatchObject({ version: 7, data: { systemPrompt: 'Write.', soul: 'Kind.' } });
  expect((await list()).items).toMatchObject([
    { hash: hashOf('Write.'), version: 7, source: 'restore', changesSummary: 'Restores an earlier prompt.' },
    { hash: hashOf('Read.') },
  ]);
});

it.each<[string, { systemPrompt: string } | { soul: string }]>([
  ['the prompt', { systemPrompt: 'Late.' }],
  ['another field', { soul: 'Late.' }],
])('a concurrent change of %s takes effect before the restoration', async (_, patch) => {
  await insertAgent(context, organization, storedAgent({ systemPrompt: 'Write.' }), undefined);
  await update({ systemPrompt: 'Read.' });
  let changed = false;
  const { table: through } = watchedTable(table, async ({ writes }) => {
    if (!writes || changed) return;
    changed = true;
    await update(patch);
  });
  const restored = await restore('Write.', through);
  expect(restored).toMatchObject({ version: 4, data: { ...patch, systemPrompt: 'Write.' } });
  expect((await list()).items.map(({ version }) => version)).toEqual('soul' in patch ? [4, 2, 1] : [4, 3, 2, 1]);
});
