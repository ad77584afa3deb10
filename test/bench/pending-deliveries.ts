import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { ulid } from 'ulid';
import { timestamp } from '../../lib/contract/ids.ts';
import type { DeliveryMessage } from '../../lib/contract/messages.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { Table } from '../../lib/table/client.ts';
import { type Delivery, deliveryItem } from '../../lib/table/delivery-items.ts';

/** DynamoDB takes no more items at once. */
const batchLimit = 25;

/** Puts deliveries of new tasks that wait for their first attempt into the table, and answers their wake-ups. */
export async function putPending(
  table: Table,
  webhook: { organization: Organization; webhookId: string },
  count: number,
): Promise<DeliveryMessage[]> {
  const deliveries = Array.from({ length: count }, (_, nth) => pending(webhook, nth));
  // Overdue in an hour: the sweeper has no part in this.
  const overdueAt = timestamp(Date.now() + 60 * 60_000);
  for (let at = 0; at < count; at += batchLimit) {
    const batch = deliveries.slice(at, at + batchLimit);
    const puts = batch.map((delivery) => ({ PutRequest: { Item: deliveryItem(delivery, overdueAt) } }));
    const { UnprocessedItems = {} } = await table.client.send(
      new BatchWriteCommand({ RequestItems: { [table.name]: puts } }),
    );
    if (Object.keys(UnprocessedItems).length > 0) throw new Error('The engine left deliveries unwritten.');
  }
  return deliveries.map(({ organization, webhookId, id: deliveryId, attempt, nextAttemptAt: dueAt }) => ({
    organization,
    webhookId,
    deliveryId,
    attempt,
    dueAt,
  }));
}

function pending(webhook: { organization: Organization; webhookId: string }, nth: number): Delivery {
  const occurredAt = timestamp(Date.now());
  const data = { task: { id: `tk_${ulid()}`, title: `Task ${nth}`, status: 'backlog' }, occurredAt };
  return {
    ...webhook,
    id: `dlv_${ulid()}`,
    event: 'task.created',
    data: JSON.stringify(data),
    state: 'pending',
    attempt: 1,
    nextAttemptAt: occurredAt,
  };
}
