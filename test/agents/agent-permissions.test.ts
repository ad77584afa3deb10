import { beforeEach, expect, it } from 'vitest';
import { assignSkill, unassignSkill, updateAgent } from '../../lib/agents/agents.ts';
import { restorePrompt } from '../../lib/agents/prompts.ts';
import { type Scope, scopes } from '../../lib/contract/endpoint.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { Table } from '../../lib/table/access/client.ts';
import { hashOf } from '../../lib/table/agents/agent-items.ts';
import { insertAgent } from '../../lib/table/agents/agents.ts';
import { storedAgent } from '../table/agents/agent-seed.ts';
import { dumpOf } from '../table/fixtures/table-dump.ts';
import { watchedTable } from '../table/fixtures/watched-table.ts';
import { always, createTestTable, errorOf, newOrganization } from '../table/tasks/test-table.ts';

const test = await createTestTable();
const context = { ...test, ...test.app, defaultModel: 'default.model', allowedModels: undefined };
const { table } = context;
const catalogue = ['sk_one', 'sk_two'].map((id) => ({ id, name: id, description: 'A skill.' }));
const name = 'writer';
const onlyAgents: readonly Scope[] = ['agents:read', 'agents:write', 'agents:execute'];
let organization: Organization;

/** Gives the agent a tool, as an operator does. */
const arm = () => updateAgent(context, organization, name, { capabilities: ['tasks.write'] }, always, scopes);

beforeEach(async () => {
  organization = newOrganization();
  await insertAgent(context, organization, storedAgent({ name, systemPrompt: 'First.' }), undefined);
  await updateAgent(context, organization, name, { systemPrompt: 'Second.' }, always, []);
  await assignSkill(context, organization, name, 'sk_one', catalogue, undefined, []);
});

it.each<[string, (through: Table) => Promise<unknown>]>([
  [
    'a patch',
    (through) => updateAgent({ ...context, table: through }, organization, name, { soul: 'New.' }, always, onlyAgents),
  ],
  [
    'a restoration',
    (through) =>
      restorePrompt(
        { ...context, table: through },
        organization,
        name,
        hashOf('First.'),
        always,
        undefined,
        onlyAgents,
      ),
  ],
  [
    'an assignment',
    (through) =>
      assignSkill({ ...context, table: through }, organization, name, 'sk_two', catalogue, undefined, onlyAgents),
  ],
  [
    'the end of an assignment',
    (through) => unassignSkill({ ...context, table: through }, organization, name, 'sk_one', onlyAgents),
  ],
])('%s needs the scopes of tools that the agent gets between the read and the write', async (_, change) => {
  let after: unknown;
  const watched = watchedTable(table, async ({ writes }) => {
    if (!writes || after) return;
    await arm();
    after = await dumpOf(table, organization);
  });
  expect((await errorOf(change(watched.table)))?.code).toBe('insufficient_scope');
  expect(await dumpOf(table, organization)).toEqual(after);
});
