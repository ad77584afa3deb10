import type { EventName } from '../../lib/contract/events.ts';
import { ulidOf } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { taskStatuses } from '../../lib/contract/tasks.ts';
import type { DeliveryRecord } from '../../lib/contract/webhooks.ts';
import type { DeliveryMessage } from '../../lib/deployment/messages.ts';
import { attemptFacet } from '../../lib/table/attempt-items.ts';
import type { Table } from '../../lib/table/client.ts';
import { deliveryPartitions } from '../../lib/table/delivery-partitions.ts';
import { readDue } from '../../lib/table/due.ts';
import { type LoggedEvent, readEvents } from '../../lib/table/event-log.ts';
import type { ExecutionHead } from '../../lib/table/execution-items.ts';
import { executionPartition } from '../../lib/table/execution-items.ts';
import { readExecutionHead } from '../../lib/table/executions.ts';
import { keys } from '../../lib/table/keys.ts';
import { everything } from '../../lib/table/listing.ts';
import { getItem, queryItems } from '../../lib/table/reads.ts';
import { type StoredTask, taskFrom } from '../../lib/table/task-items.ts';
import { compareDeliveries } from '../../lib/webhooks/compare-deliveries.ts';
import type { Interruption } from './faults.ts';
import type { Ledger } from './ledger.ts';
import type { Post } from './receivers.ts';
import type { Disturbed } from './table-proxy.ts';

/** An attempt as its row says: its record, the event it is about, and when the next one is due, if one follows. */
export type LoggedAttempt = DeliveryRecord & { eventId: string; nextAttemptAt?: string };

/** A webhook: what it hears, its attempts in the table, the total that its history answers, its receiver's log. */
export type WebhookEvidence = {
  id: string;
  events: readonly EventName[];
  attempts: LoggedAttempt[];
  total: number;
  posts: readonly Post[];
};

/** All that a recount judges by. */
export type Evidence = {
  ledger: Ledger;
  tasks: StoredTask[];
  /** What the board's lists say: how many tasks have a status. */
  counted: Map<string, number>;
  /** The event log. */
  events: LoggedEvent[];
  /** What the service itself finds when it compares the event log with the attempts: those that have to be made. */
  underWay: DeliveryMessage[];
  webhooks: WebhookEvidence[];
  executions: ExecutionHead[];
  /** What the lists of executions say: how many have a status. */
  countedExecutions: Map<string, number>;
  /** How many executions take up a place among those that may run at once. */
  places: number;
  /** The keys of the retries and executions that the sweeper's index still lists. */
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

/**
 * The keys that the sweeper's index lists, whenever they are due: of retries and executions that have not ended. A sampled
 * event is left out: it is listed until the sweeper has looked at it, minutes later.
 */
export async function dueIn(table: Table): Promise<string[]> {
  const due = await Array.fromAsync(readDue({ table }, [...deliveryPartitions, executionPartition], distantFuture));
  const underWay = due.filter(({ key }) => key.pk !== keys.events(organization));
  return underWay.map(({ key }) => `${key.pk} ${key.sk}`);
}

/** Gathers the evidence. */
export async function gather({ table, registered, totalOf, ...known }: Sources): Promise<Evidence> {
  const tasks = await Array.fromAsync(queryItems(table, { pk: keys.task(organization, '').pk }), taskFrom);
  const executions = await executionsIn(table);
  const running = await getItem(table, keys.running(organization));
  const [from, to] = [0, Date.parse(distantFuture)];
  const { waiting, lost } = await compareDeliveries({ table, batchers: {} }, organization, {
    from,
    to,
    now: Date.now(),
  });
  const counted = async (statuses: readonly string[], list: string) =>
    new Map(
      await Promise.all(statuses.map(async (status) => [status, await totalOf(`${list}?status=${status}`)] as const)),
    );
  return {
    ...known,
    tasks,
    counted: await counted(taskStatuses, '/api/kanban-tasks'),
    events: await Array.fromAsync(readEvents({ table }, organization, from, to)),
    underWay: [...waiting, ...lost],
    executions,
    countedExecutions: await counted(['running', 'completed', 'failed'], '/api/agents/executions'),
    places: (running?.running as number | undefined) ?? 0,
    due: await dueIn(table),
    webhooks: await Promise.all(
      registered.map(async (webhook) => ({
        ...webhook,
        attempts: await attemptsAt(table, webhook.id),
        total: await totalOf(`/api/webhooks/${webhook.id}/deliveries`),
      })),
    ),
  };
}

/** The executions of the list, each as its own item says. */
async function executionsIn(table: Table): Promise<ExecutionHead[]> {
  const { rows: pk } = keys.executionScope(organization);
  const range = { pk, from: `${everything}#`, to: `${everything}#~` };
  const ids = await Array.fromAsync(queryItems(table, range), ({ id }) => id as string);
  const heads = await Promise.all(ids.map((id) => readExecutionHead({ table }, { organization, id })));
  return heads.filter((head) => head !== undefined);
}

/** The attempt log of a webhook. */
async function attemptsAt(table: Table, webhookId: string): Promise<LoggedAttempt[]> {
  const { rows: pk } = keys.attemptScope(organization, ulidOf(webhookId));
  const rows = await Array.fromAsync(queryItems(table, { pk, from: `${attemptFacet}#`, to: `${attemptFacet}#~` }));
  return rows as unknown as LoggedAttempt[];
}
