import { findDifferences } from '../../../infra/cli/reconcile/differences.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { type EventName, isWebhookEvent } from '../../../lib/contract/webhooks/events.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import type { Table } from '../../../lib/table/access/client.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { queryItems } from '../../../lib/table/access/reads.ts';
import { readEvents } from '../../../lib/table/events/event-log.ts';
import type { ExecutionHead } from '../../../lib/table/executions/execution-items.ts';
import { executionPartition } from '../../../lib/table/executions/execution-items.ts';
import { readExecutionHead } from '../../../lib/table/executions/executions.ts';
import { deliveryPartitions, parkedPartitions } from '../../../lib/table/lists/delivery-partitions.ts';
import { readDue } from '../../../lib/table/lists/due.ts';
import { type StoredTask, taskFrom } from '../../../lib/table/tasks/task-items.ts';
import { compareDeliveries } from '../../../lib/webhooks/deliveries/compare-deliveries.ts';
import { checkPipeline, nameOf, type PipelineCheck } from '../../webhooks/deliveries/check-pipeline.ts';
import { type ClockStep, hasStepped, trueTimesOf } from '../clock/service-clock.ts';
import { eventsOf, eventsOfExecution, type Ledger, type NamedEvent } from '../ledger.ts';
import type { Interruption } from '../plan.ts';
import type { Post } from '../receivers.ts';
import { type Fate, fateOf, type PauseRequests, type RateChange, type Rated } from './webhook-rules.ts';

export type Evidence = {
  ledger: Ledger;
  tasks: StoredTask[];
  /** The keys of wrong lists and counts, by `reconcile`. */
  differences: string[];
  /** The attempts that `deliveries verify` finds missing. */
  underWay: DeliveryMessage[];
  executions: ExecutionHead[];
  /** The names of the events that happened, by the ledger and the executions, and of the events in the log. */
  happened: string[];
  logged: string[];
  deliveries: PipelineCheck;
  /** What must become of each event for each webhook that was paused, and how often its receiver got it. */
  fates: { webhookId: string; name: string; fate: Fate; posts: number }[];
  /** The attempts and the maximum rates of each webhook, and the steps of the clock of the service. */
  rated: Rated[];
  steps: readonly ClockStep[];
  /** The keys of the retries and executions that are still in the sweeper's index. */
  due: string[];
  /** The names of the events that the follower of the event log has seen, each id once. */
  followed: string[];
};

/** A webhook of the soak: its id, its events, the log of its receiver, and its changes. */
export type Registered = {
  id: string;
  events: readonly EventName[];
  posts: readonly Post[];
  pauses: PauseRequests[];
  rates: RateChange[];
};

/** The sources of the evidence: a copy of the table, and the caused faults. */
export type Sources = {
  table: Table;
  ledger: Ledger;
  registered: readonly Registered[];
  interruptions: readonly Interruption[];
  steps: readonly ClockStep[];
  /** The names of the events that the follower of the event log has seen, by their ids. */
  seen: ReadonlyMap<string, string>;
};

const organization = 'local' as Organization;

/** The longest time from the end of a post to its record without a fault, in milliseconds. */
const writtenWithinMs = 5_000;

const distantFuture = '9999-12-31T23:59:59.999Z';

/**
 * Returns the keys in the sweeper's index, of attempts and of executions that have not ended, whenever they are due. Checks
 * of events are left out: they are listed until the sweeper makes them, minutes later.
 */
export async function dueIn(table: Table): Promise<string[]> {
  const partitions = [...deliveryPartitions, ...parkedPartitions, executionPartition];
  const due = await Array.fromAsync(readDue({ table }, partitions, distantFuture));
  return due.map(({ key }) => `${key.pk} ${key.sk}`);
}

export async function gather(all: Sources): Promise<Evidence> {
  const registered = all.registered.map((one) => ({ ...one, posts: attemptsOf(one.posts) }));
  const sources = { ...all, registered };
  const { table, ledger } = sources;
  const now = Date.now();
  const range = { from: 0, to: Date.parse(distantFuture), now };
  const { waiting, lost } = await compareDeliveries({ table, batchers: {} }, organization, range);
  const differences = await findDifferences(table, organization, timestamp(now));
  const executions = await executionsIn(table);
  const happened = eventsThatHappened(ledger, executions);
  const logged = await Array.fromAsync(readEvents({ table }, organization, range.from, range.to));
  // The ledger has no events about webhooks, to which none of its webhooks is subscribed.
  const events = logged.filter(({ event }) => !isWebhookEvent(event)).map(loggedEvent);
  const fates = fatesOf(sources, happened, new Map(events.map(({ name, occurredAt }) => [name, occurredAt])));
  return {
    ledger,
    tasks: await Array.fromAsync(queryItems(table, { pk: keys.task(organization, '').pk }), taskFrom),
    executions,
    happened: happened.map(({ name }) => name),
    logged: events.map(({ name }) => name),
    differences: differences.map(({ key }) => `${key.pk} ${key.sk}`),
    underWay: [...waiting, ...lost],
    due: await dueIn(table),
    deliveries: await checkDeliveries(sources, fates, now),
    fates,
    rated: sources.registered.map(({ id, posts, rates }) => ({
      webhookId: id,
      begins: posts.map(({ sentAt }) => sentAt),
      rates,
    })),
    steps: sources.steps,
    followed: [...sources.seen.values()],
  };
}

/** Returns the events of all changes: the events of tasks by the ledger, the events of executions by their items. */
function eventsThatHappened(ledger: Ledger, executions: readonly ExecutionHead[]): NamedEvent[] {
  return [
    ...[...ledger.tasks].flatMap(([task, { statuses }]) => eventsOf(task, statuses)),
    ...executions.flatMap(eventsOfExecution),
  ];
}

/** Returns the name of an event in the log and the time of its change, by the clock of the service (Unix time, in ms). */
function loggedEvent({ event, data }: { event: EventName; data: string }): { name: string; occurredAt: number } {
  const changed = JSON.parse(data);
  return { name: nameOf(event, changed), occurredAt: Date.parse(changed.occurredAt) };
}

/** Returns what must become of each event for its webhooks, and how often their receivers got it. */
function fatesOf(
  { registered, steps }: Pick<Sources, 'registered' | 'steps'>,
  happened: readonly NamedEvent[],
  times: ReadonlyMap<string, number>,
): Evidence['fates'] {
  return registered.flatMap(({ id: webhookId, events, posts, pauses }) => {
    const sent = Map.groupBy(posts, ({ name }) => name);
    return happened
      .filter(({ event }) => events.includes(event))
      .map(({ name }) => ({
        ...{ webhookId, name },
        fate: fateOf(times.get(name), pauses, steps),
        posts: sent.get(name)?.length ?? 0,
      }));
  });
}

/** Checks the deliveries by the events that must be or were delivered, and by the posts in the logs of the receivers. */
function checkDeliveries(sources: Sources, fates: Evidence['fates'], now: number): Promise<PipelineCheck> {
  const { table, registered, steps } = sources;
  return checkPipeline(table, organization, {
    expected: fates.filter(({ fate, posts }) => fate === 'delivered' || posts > 0),
    posts: registered.flatMap(({ id, posts }) =>
      [...Map.groupBy(posts, ({ deliveryId }) => deliveryId).values()].flatMap((own) => {
        const isComparable = !hasSteppedDuring(own, steps);
        return own.map((post) => ({
          ...{ deliveryId: post.deliveryId, name: post.name, webhookId: id },
          // A post of the end of time is never early.
          at: isComparable ? post.stampedAt : Number.POSITIVE_INFINITY,
        }));
      }),
    ),
    unrecorded: registered.flatMap(({ posts }) =>
      posts.filter((post) => isAtFault(post, sources)).map(({ deliveryId }) => deliveryId),
    ),
    // A duplicate of an attempt may follow its record at once.
    retrySchedule: [0, 0, 0],
    now,
  });
}

/** Whether the clock has stepped between the event of a delivery and the record of its last post. */
function hasSteppedDuring(posts: readonly Post[], steps: readonly ClockStep[]): boolean {
  const begun = posts.flatMap(({ occurredAt }) => trueTimesOf(occurredAt, steps));
  return hasStepped(steps, Math.min(...begun), Math.max(...posts.map(({ endedAt }) => endedAt)) + writtenWithinMs);
}

/**
 * Returns the attempts of posts. A request that a kept connection has lost is sent once more on a new one, with the same body
 * (docs/decisions/08-connections-are-kept-within-a-batch.md): both are one attempt, until the second has ended.
 */
export function attemptsOf(posts: readonly Post[]): Post[] {
  const alike = Map.groupBy(posts, ({ deliveryId, stampedAt }) => `${deliveryId} ${stampedAt}`);
  return [...alike.values()].flatMap(([first, again, ...more]) =>
    first && again ? [{ ...first, endedAt: Math.max(first.endedAt, again.endedAt) }, ...more] : (first ?? []),
  );
}

/** Whether a post was under way when the service was killed or stopped. */
export function isAtFault(
  { sentAt, endedAt }: Pick<Post, 'sentAt' | 'endedAt'>,
  { interruptions }: Pick<Sources, 'interruptions'>,
): boolean {
  return interruptions.some(({ from, to }) => from <= endedAt + writtenWithinMs && to >= sentAt);
}

/** Returns the executions of the list, by their own items. */
async function executionsIn(table: Table): Promise<ExecutionHead[]> {
  const { rows: pk } = keys.executionScope(organization);
  const ids = new Set(await Array.fromAsync(queryItems(table, { pk }), ({ id }) => id as string));
  const heads = await Promise.all([...ids].map((id) => readExecutionHead({ table }, { organization, id })));
  return heads.filter((head) => head !== undefined);
}
