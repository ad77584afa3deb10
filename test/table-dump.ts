import { paginateScan } from '@aws-sdk/lib-dynamodb';
import type { Organization } from '../lib/contract/organization.ts';
import type { Table } from '../lib/table/client.ts';
import { unmarked } from '../lib/table/write-marks.ts';

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
