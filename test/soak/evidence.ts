import type { EventName } from '../../lib/contract/events.ts';
import { timestamp, ulidOf } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { DeliveryRecord } from '../../lib/contract/webhooks.ts';
import type { DeliveryMessage } from '../../lib/deployment/messages.ts';
import { findDifferences } from '../../lib/reconcile/differences.ts';
import type { Table } from '../../lib/table/client.ts';
import { attemptFacet } from '../../lib/table/deliveries/attempt-items.ts';
import { deliveryPartitions } from '../../lib/table/deliveries/delivery-partitions.ts';
import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';
import { executionPartition } from '../../lib/table/executions/execution-items.ts';
import { readExecutionHead } from '../../lib/table/executions/executions.ts';
import { keys } from '../../lib/table/keys.ts';
import { readDue } from '../../lib/table/lists/due.ts';
import { everything } from '../../lib/table/lists/listing.ts';
import { queryItems } from '../../lib/table/reads.ts';
import { type StoredTask, taskFrom } from '../../lib/table/tasks/task-items.ts';
import { compareDeliveries } from '../../lib/webhooks/deliveries/compare-deliveries.ts';
import type { Ledger } from './ledger.ts';
import type { Interruption } from './plan.ts';
import type { Post } from './receivers.ts';
import type { Disturbed } from './table-proxy.ts';

/** The row of an attempt: its record, its event, and the time of the next attempt if one follows. */
export type LoggedAttempt = DeliveryRecord & { eventId: string; nextAttemptAt?: string };

/** A webhook: its events, its attempts in the table, the total of its history, and the log of its receiver. */
export type WebhookEvidence = {
  id: string;
  events: readonly EventName[];
  attempts: LoggedAttempt[];
  total: number;
  posts: readonly Post[];
};

/** The data that a check compares. */
export type Evidence = {
  ledger: Ledger;
  tasks: StoredTask[];
  /** The keys of wrong lists and counts, by `reconcile`. */
  differences: string[];
  /** The attempts that `deliveries verify` finds missing. */
  underWay: DeliveryMessage[];
  webhooks: WebhookEvidence[];
  executions: ExecutionHead[];
  /** The keys of the retries and executions that are still in the sweeper's index. */
  due: string[];
  interruptions: readonly Interruption[];
  disturbed: readonly Disturbed[];
};

/** A webhook of the soak: its id, its events, and the log of its receiver. */
export type Registered = Pick<WebhookEvidence, 'id' | 'events' | 'posts'>;

/** The sources of the evidence: the table itself, past the proxy, and the API for the history's total. */
export type Sources = Pick<Evidence, 'ledger' | 'interruptions' | 'disturbed'> & {
  table: Table;
  registered: readonly Registered[];
  /** Reads the total of a webhook's history. */
  totalOf: (webhookId: string) => Promise<number>;
};

const organization = 'local' as Organization;

const distantFuture = '9999-12-31T23:59:59.999Z';

/**
 * Returns the keys in the sweeper's index, of retries and of executions that have not ended, whenever they are due. Sampled
 * events are left out: they are listed until the sweeper checks them, minutes later.
 */
export async function dueIn(table: Table): Promise<string[]> {
  const due = await Array.fromAsync(readDue({ table }, [...deliveryPartitions, executionPartition], distantFuture));
  const underWay = due.filter(({ key }) => key.pk !== keys.events(organization));
  return underWay.map(({ key }) => `${key.pk} ${key.sk}`);
}

/** Collects the evidence. */
export async function gather({ table, registered, totalOf, ...known }: Sources): Promise<Evidence> {
  const now = Date.now();
  const range = { from: 0, to: Date.parse(distantFuture), now };
  const { waiting, lost } = await compareDeliveries({ table, batchers: {} }, organization, range);
  const differences = await findDifferences(table, organization, timestamp(now));
  return {
    ...known,
    tasks: await Array.fromAsync(queryItems(table, { pk: keys.task(organization, '').pk }), taskFrom),
    executions: await executionsIn(table),
    differences: differences.map(({ key }) => `${key.pk} ${key.sk}`),
    underWay: [...waiting, ...lost],
    due: await dueIn(table),
    webhooks: await Promise.all(
      registered.map(async (webhook) => ({
        ...webhook,
        attempts: await attemptsAt(table, webhook.id),
        total: await totalOf(webhook.id),
      })),
    ),
  };
}

/** Returns the executions of the list, by their own items. */
async function executionsIn(table: Table): Promise<ExecutionHead[]> {
  const { rows: pk } = keys.executionScope(organization);
  const range = { pk, from: `${everything}#`, to: `${everything}#~` };
  const ids = await Array.fromAsync(queryItems(table, range), ({ id }) => id as string);
  const heads = await Promise.all(ids.map((id) => readExecutionHead({ table }, { organization, id })));
  return heads.filter((head) => head !== undefined);
}

/** Returns the attempt log of a webhook. */
async function attemptsAt(table: Table, webhookId: string): Promise<LoggedAttempt[]> {
  const { rows: pk } = keys.attemptScope(organization, ulidOf(webhookId));
  const rows = await Array.fromAsync(queryItems(table, { pk, from: `${attemptFacet}#`, to: `${attemptFacet}#~` }));
  return rows as unknown as LoggedAttempt[];
}
