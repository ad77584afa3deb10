import { ulid } from 'ulid';
import { standardConduct } from '../../../lib/contract/agents/standard-conduct.ts';
import { timeOf, timestamp } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { Table } from '../../../lib/table/access/client.ts';
import { agentItem, headOf, type StoredAgent, textItems } from '../../../lib/table/agents/agent-items.ts';
import { writeItems } from '../tasks/seed.ts';

/** Returns an agent as a creation would have stored it, with default values for absent fields. */
export function storedAgent(fields: Partial<StoredAgent> = {}, createdMs = Date.UTC(2026, 0, 1)): StoredAgent {
  const id = ulid(createdMs);
  const createdAt = timestamp(timeOf(id));
  return {
    ...{ id: `ag_${id}`, name: 'writer', displayName: 'Writer', category: 'business', model: 'some.model' },
    ...{ systemPrompt: '', soul: '', capabilities: [], ...standardConduct, status: 'active', isSystem: false },
    ...{ version: 1, createdAt, updatedAt: createdAt },
    ...fields,
  };
}

/** Writes agents in batches, as their creations would have written them. */
export function seedAgents(table: Table, organization: Organization, agents: readonly StoredAgent[]): Promise<void> {
  const items = agents.flatMap((agent) => [agentItem(organization, headOf(agent)), ...textItems(organization, agent)]);
  return writeItems(table, items);
}
