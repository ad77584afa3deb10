import { ulid } from 'ulid';
import { timestamp } from '../../lib/contract/ids.ts';
import type { DeliveryMessage } from '../../lib/contract/messages.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { Table } from '../../lib/table/client.ts';
import { type Delivery, deliveryItem } from '../../lib/table/delivery-items.ts';
import { writeItems } from '../table/seed.ts';

/** Puts deliveries of new tasks that wait for their first attempt into the table, and answers their wake-ups. */
export async function putPending(
  table: Table,
  webhook: { organization: Organization; webhookId: string },
  count: number,
): Promise<DeliveryMessage[]> {
  const deliveries = Array.from({ length: count }, (_, nth) => pending(webhook, nth));
  // Overdue in an hour: the sweeper has no part in this.
  const overdueAt = timestamp(Date.now() + 60 * 60_000);
  const items = deliveries.map((delivery) => deliveryItem(delivery, overdueAt));
  await writeItems(table, items);
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
