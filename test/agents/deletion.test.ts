import { expect, it } from 'vitest';
import { openAgents } from '../../lib/agents/agents.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { AgentStore } from '../../lib/table/agents.ts';
import type { Table } from '../../lib/table/client.ts';
import { unavailable } from '../../lib/table/transact.ts';

const organization = 'acme' as Organization;

/** Agents of which one can be deleted, whatever becomes of its executions. */
function agentsOf(hide: () => Promise<void>) {
  const removed: string[] = [];
  const store = {
    table: { sleep: async () => {} } as unknown as Table,
    head: async () => ({ id: 'ag_1', name: 'writer', version: 1, isSystem: false }),
    remove: async (_: Organization, { name }: { name: string }) => void removed.push(name),
  } as unknown as AgentStore;
  const agents = openAgents({
    store,
    purges: { hide },
    settings: { get: async () => ({}) },
    defaultModel: 'm',
    ulid: () => '',
    clock: () => 0,
  });
  return { removed, remove: () => agents.delete(organization, 'writer', () => {}) };
}

it('a deletion whose executions cannot be taken out of the lists now says that the agent is deleted all the same', async () => {
  const { removed, remove } = agentsOf(async () => {
    throw unavailable();
  });
  await expect(remove()).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/^writer is deleted; its executions/),
    headers: { 'Retry-After': '60' },
  });
  expect(removed).toEqual(['writer']);
});

it('a deletion that meets an error of ours tells no more of it than any other', async () => {
  const { remove } = agentsOf(async () => {
    throw new TypeError('x');
  });
  await expect(remove()).rejects.toThrow(TypeError);
});
