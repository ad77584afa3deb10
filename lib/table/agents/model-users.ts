import { paginateScan } from '@aws-sdk/lib-dynamodb';
import type { Organization } from '../../contract/organization.ts';
import { ascending } from '../../contract/texts/order.ts';
import type { Table } from '../access/client.ts';
import { keys, organizationOf } from '../access/keys.ts';
import { getItem, readRange } from '../access/reads.ts';
import type { Item } from '../access/write.ts';

/** An agent that uses a model, or without `agent` an organization whose default model it is. */
export type UserOfModel = { organization: Organization; agent: string | undefined };

/**
 * Returns the agents that use a model and the organizations whose default model it is, sorted by organization and name.
 * Agents that a version without models wrote use the default model of the deployment.
 *
 * @param choice.organization limits the search to one organization; without it the whole table is scanned
 * @param onScan receives the number of items that were scanned so far
 */
export async function findUsersOfModel(
  table: Table,
  choice: { model: string; defaultModel: string; organization: Organization | undefined },
  onScan: (scanned: number) => void = () => {},
): Promise<UserOfModel[]> {
  const { model, defaultModel, organization } = choice;
  const items = organization === undefined ? await scanAll(table, onScan) : await readOrganization(table, organization);
  const users = items.filter((item) =>
    item.kind === 'agent' ? (item.model ?? defaultModel) === model : item.defaultModel === model,
  );
  const name = ({ organization: of, agent = '' }: UserOfModel) => `${of} ${agent}`;
  return users
    .map(({ pk, sk, kind }) => ({
      organization: organizationOf(pk as string),
      agent: kind === 'agent' ? (sk as string) : undefined,
    }))
    .sort((a, b) => ascending(name(a), name(b)));
}

async function readOrganization(table: Table, organization: Organization): Promise<Item[]> {
  const [agents, settings] = await Promise.all([
    readRange(table, { pk: keys.agents(organization) }),
    getItem(table, keys.settings(organization)),
  ]);
  return [...agents, ...(settings ? [settings] : [])];
}

async function scanAll({ client, name }: Table, onScan: (scanned: number) => void): Promise<Item[]> {
  const pages = paginateScan(
    { client },
    {
      TableName: name,
      ConsistentRead: true,
      FilterExpression: '#kind = :agent OR attribute_exists(defaultModel)',
      ProjectionExpression: 'pk, sk, #kind, model, defaultModel',
      ExpressionAttributeNames: { '#kind': 'kind' },
      ExpressionAttributeValues: { ':agent': 'agent' },
    },
  );
  const found: Item[] = [];
  let scanned = 0;
  for await (const { Items = [], ScannedCount = 0 } of pages) {
    found.push(...Items);
    scanned += ScannedCount;
    onScan(scanned);
  }
  return found;
}
