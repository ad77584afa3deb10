import { paginateScan } from '@aws-sdk/lib-dynamodb';
import type { Organization } from '../lib/contract/organization.ts';
import type { Table } from '../lib/table/access/client.ts';
import { unmarked } from '../lib/table/access/write-marks.ts';
import { deletedTaskKind } from '../lib/table/tasks/deleted-tasks.ts';

/**
 * Returns every item of an organization by its key, as its store wrote it, for comparison with the table after a request.
 * The uses of its tokens are not among them: every request may note one.
 */
export async function dumpOf({ client, name }: Table, organization: Organization): Promise<Record<string, unknown>> {
  const pages = paginateScan(
    { client },
    {
      TableName: name,
      ConsistentRead: true,
      FilterExpression: 'contains(pk, :organization) AND attribute_not_exists(usedAt)',
      ExpressionAttributeValues: { ':organization': organization },
    },
  );
  const items: Record<string, unknown> = {};
  for await (const { Items = [] } of pages) for (const item of Items) items[`${item.pk} ${item.sk}`] = unmarked(item);
  return items;
}

/**
 * Returns the items of a dump that name a task, in their keys or in themselves, without the item that says that it was
 * deleted.
 */
export function itemsNaming(dump: Awaited<ReturnType<typeof dumpOf>>, taskId: string): unknown[] {
  const ulid = taskId.slice('tk_'.length);
  const isNaming = (entry: [key: string, item: unknown]) => JSON.stringify(entry).includes(ulid);
  const isDeletion = (item: unknown) => (item as { kind?: string }).kind === deletedTaskKind;
  return Object.entries(dump).filter((entry) => isNaming(entry) && !isDeletion(entry[1]));
}
