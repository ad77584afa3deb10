import type { EventName } from '../../lib/contract/events.ts';
import { ulidOf } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { taskStatuses } from '../../lib/contract/tasks.ts';
import type { DeliveryRecord } from '../../lib/contract/webhooks.ts';
import type { Table } from '../../lib/table/client.ts';
import { openDeliveryStore } from '../../lib/table/deliveries.ts';
import { type Delivery, deliveryFrom } from '../../lib/table/delivery-items.ts';
import type { ExecutionHead } from '../../lib/table/execution-items.ts';
import { openExecutionStore } from '../../lib/table/executions.ts';
import { keys } from '../../lib/table/keys.ts';
import { everything } from '../../lib/table/listing.ts';
import { getItem, queryItems } from '../../lib/table/reads.ts';
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
  executions: ExecutionHead[];
  /** What the lists of executions say: how many have a status. */
  countedExecutions: Map<string, number>;
  /** How many executions take up a place among those that may run at once. */
  places: number;
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

/** The keys that the sweeper's index lists, whenever they are due: deliveries and executions that have not ended. */
export async function dueIn(table: Table): Promise<string[]> {
  const lists = [openDeliveryStore(table), openExecutionStore(table, 1)];
  const due = await Promise.all(lists.map((list) => Array.fromAsync(list.due(distantFuture))));
  return due.flat().map(({ key }) => `${key.pk} ${key.sk}`);
}

/** Gathers the evidence. */
export async function gather({ table, registered, totalOf, ...known }: Sources): Promise<Evidence> {
  const tasks = await Array.fromAsync(queryItems(table, { pk: keys.task(organization, '').pk }), taskFrom);
  const executions = await executionsIn(table);
  const running = await getItem(table, keys.running(organization));
  const counted = async (statuses: readonly string[], list: string) =>
    new Map(
      await Promise.all(statuses.map(async (status) => [status, await totalOf(`${list}?status=${status}`)] as const)),
    );
  return {
    ...known,
    tasks,
    counted: await counted(taskStatuses, '/api/kanban-tasks'),
    executions,
    countedExecutions: await counted(['running', 'completed', 'failed'], '/api/agents/executions'),
    places: (running?.running as number | undefined) ?? 0,
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

/** The executions of the list, each as its own item says. */
async function executionsIn(table: Table): Promise<ExecutionHead[]> {
  const store = openExecutionStore(table, 1);
  const { rows: pk } = keys.executionScope(organization);
  const range = { pk, from: `${everything}#`, to: `${everything}#~` };
  const ids = await Array.fromAsync(queryItems(table, range), ({ id }) => id as string);
  const heads = await Promise.all(ids.map((id) => store.head({ organization, id })));
  return heads.filter((head) => head !== undefined);
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
