import { paginateScan } from '@aws-sdk/lib-dynamodb';
import type { Organization } from '../contract/organization.ts';
import type { Table } from './client.ts';
import { keys, organizationOf } from './keys.ts';
import { getItem, queryItems } from './reads.ts';
import type { Item } from './write.ts';

/** What has a model: an agent by its name, or an organization whose default model it is. */
export type UserOfModel = { organization: Organization; agent: string | undefined };

/**
 * Finds the agents that have a model, and the organizations whose default model it is, by organization and name. Agents
 * that were put before agents had models have the default model of the deployment.
 *
 * @param choice.organization only its agents and default; without one the whole table is read, for an operator's tool
 * @param tell how many items of the table were read so far
 */
export async function findUsersOfModel(
  table: Table,
  choice: { model: string; defaultModel: string; organization: Organization | undefined },
  tell: (items: number) => void = () => {},
): Promise<UserOfModel[]> {
  const { model, defaultModel, organization } = choice;
  const items = organization === undefined ? await scanned(table, tell) : await ofOrganization(table, organization);
  const users = items.filter((item) =>
    item.kind === 'agent' ? (item.model ?? defaultModel) === model : item.defaultModel === model,
  );
  const name = ({ organization: of, agent = '' }: UserOfModel) => `${of} ${agent}`;
  return users
    .map(({ pk, sk, kind }) => ({
      organization: organizationOf(pk as string),
      agent: kind === 'agent' ? (sk as string) : undefined,
    }))
    .sort((a, b) => (name(a) < name(b) ? -1 : 1));
}

async function ofOrganization(table: Table, organization: Organization): Promise<Item[]> {
  const [agents, settings] = await Promise.all([
    Array.fromAsync(queryItems(table, { pk: keys.agents(organization) })),
    getItem(table, keys.settings(organization)),
  ]);
  return [...agents, ...(settings ? [settings] : [])];
}

async function scanned({ client, name }: Table, tell: (items: number) => void): Promise<Item[]> {
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
  let read = 0;
  for await (const { Items = [], ScannedCount = 0 } of pages) {
    found.push(...Items);
    read += ScannedCount;
    tell(read);
  }
  return found;
}
