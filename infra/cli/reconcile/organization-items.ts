import { paginateScan } from '@aws-sdk/lib-dynamodb';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { Table } from '../../../lib/table/access/client.ts';
import { familyOf, keys } from '../../../lib/table/access/keys.ts';
import type { Item } from '../../../lib/table/access/write.ts';
import { type ExecutionHead, executionFrom, executionKind } from '../../../lib/table/executions/execution-items.ts';
import type { ListMembership } from '../../../lib/table/lists/listing.ts';
import { purgeFrom, purgeKind } from '../../../lib/table/purges/purge-items.ts';
import { searchEntry } from '../../../lib/table/tasks/search-entries.ts';
import { taskFrom, taskMembership } from '../../../lib/table/tasks/task-items.ts';

/** The items of an organization: the fields that lists and counts are derived from, and the derived items. */
export type OrganizationItems = {
  tasks: { id: string; dependsOn: string[]; dependents: string[]; membership: ListMembership; entry: Item }[];
  executions: ExecutionHead[];
  webhooks: { ulid: string; events: string[]; taskFilters: unknown }[];
  /** The ids of the existing agents. */
  agents: Set<string>;
  /** The unfinished purges of agents, by agent id. */
  purges: Map<string, Item>;
  /** Rows, search entries and counters by name, without counts of zero: a count of zero means the same as none. */
  derived: Map<string, Item>;
};

/** Returns an item's key in one string. */
export function itemName({ pk, sk }: Item): string {
  return `${pk} ${sk}`;
}

/**
 * Reads all items of an organization, strongly consistent, but in several requests: it may see a part of a transaction
 * that runs at the same time. It scans the whole table. No query finds all items: an execution is found by its rows,
 * and the rows can be wrong.
 *
 * @param onRead receives how many items of the table were read so far, including the items of other organizations
 */
export async function readOrganization(
  { client, name }: Table,
  organization: Organization,
  onRead: (scanned: number) => void,
): Promise<OrganizationItems> {
  const found: OrganizationItems = {
    tasks: [],
    executions: [],
    webhooks: [],
    agents: new Set(),
    purges: new Map(),
    derived: new Map(),
  };
  const add = adderTo(found, organization);
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
    for (const item of Items) add(item);
    scanned += ScannedCount;
    onRead(scanned);
  }
  return found;
}

/** Returns the families of partitions that hold derived items: rows, and counters. */
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
    rows: new Set(
      [...lists.map(({ rows }) => rows), keys.subscriptions(organization, any), keys.searchEntries(organization)].map(
        familyOf,
      ),
    ),
    numbers: new Set([...lists.map(({ counters }) => counters), ...counts].map(familyOf)),
  };
}

/** Returns a function that adds an item of the table to the items of an organization. */
function adderTo(found: OrganizationItems, organization: Organization): (item: Item) => void {
  const { rows, numbers } = derivedFamilies(organization);
  return (item) => {
    const pk = item.pk as string;
    if (pk === keys.tasks(organization)) {
      const task = taskFrom(item);
      const { id, dependsOn, dependents } = task;
      const entry = searchEntry(organization, task);
      found.tasks.push({ id, dependsOn, dependents, membership: taskMembership(organization, task), entry });
    } else if (item.kind === executionKind) {
      found.executions.push(executionFrom(item));
    } else if (pk === keys.agents(organization)) {
      found.agents.add(item.id as string);
    } else if (item.kind === purgeKind) {
      const purge = purgeFrom(item);
      if ('agentId' in purge) found.purges.set(purge.agentId, item);
    } else if (pk === keys.webhooks(organization)) {
      const { sk, events, taskFilters } = item;
      found.webhooks.push({ ulid: sk as string, events: events as string[], taskFilters });
    } else if (rows.has(familyOf(pk))) {
      found.derived.set(itemName(item), item);
    } else if (numbers.has(familyOf(pk))) {
      const { pk, sk, ...counts } = item;
      const counted = Object.entries(counts).filter(([, count]) => count !== 0);
      if (counted.length > 0) found.derived.set(itemName(item), { pk, sk: item.sk, ...Object.fromEntries(counted) });
    }
  };
}
