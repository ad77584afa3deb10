import type { EventName } from '../../lib/contract/events.ts';
import { ulidOf } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { taskStatuses } from '../../lib/contract/tasks.ts';
import type { DeliveryRecord } from '../../lib/contract/webhooks.ts';
import type { Table } from '../../lib/table/client.ts';
import { openDeliveryStore } from '../../lib/table/deliveries.ts';
import { type Delivery, deliveryFrom } from '../../lib/table/delivery-items.ts';
import { keys } from '../../lib/table/keys.ts';
import { queryItems } from '../../lib/table/reads.ts';
import { type StoredTask, taskFrom } from '../../lib/table/task-items.ts';
import type { Interruption } from './conductor.ts';
import type { Ledger } from './ledger.ts';
import type { Post } from './receivers.ts';
import type { Disturbed } from './table-proxy.ts';

/** A webhook: what it hears, what the table holds of it, the total that its history answers, its receiver's log. */
export type WebhookEvidence = {
  id: string;
  events: readonly EventName[];
  deliveries: Delivery[];
  attempts: DeliveryRecord[];
  total: number;
  posts: readonly Post[];
};

/** All that a recount judges by. */
export type Evidence = {
  ledger: Ledger;
  tasks: StoredTask[];
  /** What the board's lists say: how many tasks have a status. */
  counted: Map<string, number>;
  webhooks: WebhookEvidence[];
  /** The keys that the sweeper's index still lists. */
  due: string[];
  interruptions: readonly Interruption[];
  disturbed: readonly Disturbed[];
};

/** A webhook of the soak: its id, what it hears, and its receiver's log. */
export type Registered = Pick<WebhookEvidence, 'id' | 'events' | 'posts'>;

/** What evidence is gathered from: the table itself, past the proxy, and the interface for the totals. */
export type Sources = Pick<Evidence, 'ledger' | 'interruptions' | 'disturbed'> & {
  table: Table;
  registered: readonly Registered[];
  totalOf: (path: string) => Promise<number>;
};

const organization = 'local' as Organization;

const distantFuture = '9999-12-31T23:59:59.999Z';

/** The keys that the sweeper's index lists, whenever they are due: deliveries that have not come to their end. */
export async function dueIn(table: Table): Promise<string[]> {
  const due = await Array.fromAsync(openDeliveryStore(table).due(distantFuture));
  return due.map(({ key }) => `${key.pk} ${key.sk}`);
}

/** Gathers the evidence. */
export async function gather({ table, registered, totalOf, ...known }: Sources): Promise<Evidence> {
  const tasks = await Array.fromAsync(queryItems(table, { pk: keys.task(organization, '').pk }), taskFrom);
  const counts = taskStatuses.map(
    async (status) => [status, await totalOf(`/api/kanban-tasks?status=${status}`)] as const,
  );
  return {
    ...known,
    tasks,
    counted: new Map(await Promise.all(counts)),
    due: await dueIn(table),
    webhooks: await Promise.all(
      registered.map(async (webhook) => ({
        ...webhook,
        ...(await historyOf(table, webhook.id)),
        total: await totalOf(`/api/webhooks/${webhook.id}/deliveries`),
      })),
    ),
  };
}

/** A webhook's deliveries and the rows of its history, which share a partition. */
async function historyOf(table: Table, webhookId: string): Promise<Pick<WebhookEvidence, 'deliveries' | 'attempts'>> {
  const { pk, sk: deliveries } = keys.delivery(organization, ulidOf(webhookId), '');
  const items = await Array.fromAsync(queryItems(table, { pk }));
  const isDelivery = ({ sk }: { sk?: unknown }) => (sk as string).startsWith(deliveries);
  return {
    deliveries: items.filter(isDelivery).map(deliveryFrom),
    attempts: items.filter((item) => !isDelivery(item)) as unknown as DeliveryRecord[],
  };
}
