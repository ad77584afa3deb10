import { paginateScan } from '@aws-sdk/lib-dynamodb';
import type { Organization } from '../contract/organization.ts';
import type { Table } from './client.ts';
import { executionFrom, executionKind, executionStanding } from './execution-items.ts';
import { familyOf, keys } from './keys.ts';
import type { Standing } from './listing.ts';
import { purgeFrom, purgeKind } from './purge-items.ts';
import { taskFrom, taskStanding } from './task-items.ts';
import type { Item } from './write.ts';

/** What an organization has: what is derived from, kept short, and the derived items as they stand. */
export type OrganizationItems = {
  tasks: { id: string; dependsOn: string[]; dependents: string[]; standing: Standing }[];
  executions: { agentId: string; running: boolean; standing: Standing }[];
  webhooks: { ulid: string; events: string[] }[];
  /** The ids of the agents that are there. */
  agents: Set<string>;
  /** The purges of agents that are under way, by the ids of the agents. */
  purges: Map<string, Item>;
  /** Rows and numbers by name. A number that is nought is left out: it is as good as absent. */
  derived: Map<string, Item>;
};

/** An item's key in one string. */
export function itemName({ pk, sk }: Item): string {
  return `${pk} ${sk}`;
}

/**
 * Reads all that an organization has, strongly consistent, but in several requests: what is written meanwhile may be
 * there in part. By a scan of the table, for an operator's tool alone: heads of executions have a partition each, which
 * only their rows name, and rows are what is in doubt; so is the list that something stands in and should not.
 *
 * @param tell how many items of the table were read so far, those of other organizations included
 */
export async function readOrganization(
  { client, name }: Table,
  organization: Organization,
  tell: (scanned: number) => void,
): Promise<OrganizationItems> {
  const found: OrganizationItems = {
    tasks: [],
    executions: [],
    webhooks: [],
    agents: new Set(),
    purges: new Map(),
    derived: new Map(),
  };
  const take = takerFor(organization, found);
  const pages = paginateScan(
    { client },
    {
      TableName: name,
      ConsistentRead: true,
      FilterExpression: 'begins_with(pk, :organization)',
      ExpressionAttributeValues: { ':organization': keys.organization(organization) },
    },
  );
  let scanned = 0;
  for await (const { Items = [], ScannedCount = 0 } of pages) {
    for (const item of Items) take(item);
    scanned += ScannedCount;
    tell(scanned);
  }
  return found;
}

/** The families of partitions that hold derived items: rows, and what only counts. */
function derivedFamilies(organization: Organization): { rows: Set<string>; numbers: Set<string> } {
  const any = '-';
  const lists = [
    keys.taskScope(organization, {}),
    keys.taskScope(organization, { agent: any }),
    keys.taskScope(organization, { project: any }),
    keys.taskScope(organization, { agent: any, project: any }),
    keys.executionScope(organization),
    keys.executionScope(organization, any),
  ];
  const counts = [keys.running(organization).pk, keys.webhookCount(organization).pk];
  return {
    rows: new Set([...lists.map(({ rows }) => rows), keys.subscriptions(organization, any)].map(familyOf)),
    numbers: new Set([...lists.map(({ counters }) => counters), ...counts].map(familyOf)),
  };
}

/** Sorts items into what was found so far. */
function takerFor(organization: Organization, found: OrganizationItems): (item: Item) => void {
  const { rows, numbers } = derivedFamilies(organization);
  return (item) => {
    const pk = item.pk as string;
    if (pk === keys.tasks(organization)) {
      const task = taskFrom(item);
      const { id, dependsOn, dependents } = task;
      found.tasks.push({ id, dependsOn, dependents, standing: taskStanding(organization, task) });
    } else if (item.kind === executionKind) {
      const execution = executionFrom(item);
      const running = execution.status === 'running';
      found.executions.push({ agentId: execution.agentId, running, standing: executionStanding(execution) });
    } else if (pk === keys.agents(organization)) {
      found.agents.add(item.id as string);
    } else if (item.kind === purgeKind) {
      const purge = purgeFrom(item);
      if ('agentId' in purge) found.purges.set(purge.agentId, item);
    } else if (pk === keys.webhooks(organization)) {
      found.webhooks.push({ ulid: item.sk as string, events: item.events as string[] });
    } else if (rows.has(familyOf(pk))) {
      found.derived.set(itemName(item), item);
    } else if (numbers.has(familyOf(pk))) {
      const { pk: _, sk: __, ...counts } = item;
      const counted = Object.entries(counts).filter(([, count]) => count !== 0);
      if (counted.length > 0) found.derived.set(itemName(item), { pk, sk: item.sk, ...Object.fromEntries(counted) });
    }
  };
}
