import { ulidOf } from '../../lib/contract/ids.ts';
import type { Evidence, LoggedAttempt, WebhookEvidence } from './evidence.ts';
import { type EventIdentity, eventsOf, eventsOfExecution } from './ledger.ts';
import type { Post } from './receivers.ts';

/** The result of a check. `lost` has a sentence for each fault. */
export type Checked = {
  lost: string[];
  executions: Record<string, number>;
  deliveries: Record<string, number>;
  attempts: number;
  duplicates: number;
};

/** The retry schedule has three steps. */
const mostAttempts = 4;

/** The number of leases of an execution that has failed as lost. */
const leasesOfLost = 3;

/** The longest time from a post to its first record: 10 s for the post, and time to begin. In milliseconds. */
const firstWriteMs = 20_000;

/** The longest time from the end of a post to its record without a fault, in milliseconds. */
const writtenWithinMs = 5_000;

/**
 * Checks all data of a soak: nothing is lost, invented, or done twice without a fault that explains it. The writers'
 * ledger is compared with the table and with the logs of the receivers. Lists, counts and missing attempts are checked as
 * by `crewboard reconcile` and `crewboard deliveries verify`.
 */
export function check(evidence: Evidence): Checked {
  const { webhooks, differences, underWay, due, executions } = evidence;
  const posts = webhooks.map((webhook) => checkPosts(webhook, evidence));
  const states = webhooks.flatMap(({ attempts }) => [...deliveriesOf(attempts).values()].map(stateOf));
  return {
    lost: [
      ...checkTasks(evidence),
      ...checkExecutions(evidence),
      ...webhooks.flatMap(checkAttempts),
      ...posts.flatMap(({ lost }) => lost),
      ...differences.map((key) => `${key} differs from the items of the organization`),
      ...underWay.map(({ deliveryId, attempt }) => `attempt ${attempt} of ${deliveryId} is missing`),
      ...due.map((key) => `${key} is still in the due index`),
    ],
    executions: countsOf(executions.map(({ status }) => status)),
    deliveries: countsOf(states),
    attempts: webhooks.reduce((sum, { attempts }) => sum + attempts.length, 0),
    duplicates: posts.reduce((sum, { duplicates }) => sum + duplicates, 0),
  };
}

/** Returns the number of each of some names. */
function countsOf(names: readonly string[]): Record<string, number> {
  const kinds = [...Map.groupBy(names, (name) => name)];
  return Object.fromEntries(kinds.map(([kind, alike]) => [kind, alike.length]));
}

/** Returns the faults of the tasks: each is as in the last response to its writer, and none exists twice. */
function checkTasks({ ledger, tasks }: Evidence): string[] {
  const stored = new Map(tasks.map((task) => [task.id, task]));
  return [
    ...[...ledger.tasks].flatMap(([id, { statuses, version }]) => {
      const task = stored.get(id);
      if (!task) return [`${id} was created and does not exist`];
      // Each change is one version.
      if (task.status === statuses.at(-1) && task.version === version && version === statuses.length) return [];
      const expected = `${statuses.at(-1)} in version ${version} after ${statuses.length} changes`;
      return [`${id} was ${expected} and is ${task.status} in version ${task.version}`];
    }),
    ...tasks.filter(({ id }) => !ledger.tasks.has(id)).map(({ id }) => `${id} exists and no response has named it`),
  ];
}

/** Returns the faults of the executions: each in the ledger has ended, and none exists twice. */
function checkExecutions({ ledger, executions }: Evidence): string[] {
  const stored = new Set(executions.map(({ id }) => id));
  return [
    ...[...ledger.executions].filter((id) => !stored.has(id)).map((id) => `${id} was started and does not exist`),
    ...executions.flatMap(({ id, status, error, claims }) => {
      if (!ledger.executions.has(id)) return [`${id} exists and no response has named it`];
      if (status === 'running') return [`${id} is still running`];
      // The model of a soak never fails: an execution fails only as lost.
      if (status === 'completed' || (error === 'lost' && claims >= leasesOfLost)) return [];
      return [`${id} has failed (${error}) after ${claims} leases`];
    }),
  ];
}

/** Returns the attempts of each delivery in their order. */
function deliveriesOf(attempts: readonly LoggedAttempt[]): Map<string, LoggedAttempt[]> {
  return Map.groupBy(
    attempts.toSorted((a, b) => a.attempt - b.attempt),
    ({ deliveryId }) => deliveryId,
  );
}

/** Returns the state of a delivery by its attempts. */
function stateOf(attempts: readonly LoggedAttempt[]): 'retrying' | 'delivered' | 'exhausted' {
  const last = attempts.at(-1);
  if (last?.error === undefined) return 'delivered';
  return last.nextAttemptAt === undefined ? 'exhausted' : 'retrying';
}

/** Returns the faults of a webhook's history: the attempts of each delivery have no gap, and the total is exact. */
function checkAttempts({ id, attempts, total }: WebhookEvidence): string[] {
  return [
    ...(total === attempts.length ? [] : [`the history of ${id} counts ${total} attempts and has ${attempts.length}`]),
    ...[...deliveriesOf(attempts)].flatMap(([delivery, ofIt]) => {
      const numbers = ofIt.map(({ attempt }) => attempt).join(', ');
      const failed = ofIt.filter(({ error }) => error !== undefined).length;
      const state = stateOf(ofIt);
      const isWhole = numbers === ofIt.map((_, nth) => nth + 1).join(', ');
      const isOver = failed === (state === 'exhausted' ? mostAttempts : ofIt.length - 1);
      return isWhole && isOver && state !== 'retrying'
        ? []
        : [`${delivery} is ${state} after the attempts ${numbers}, of which ${failed} have failed`];
    }),
  ];
}

/**
 * Compares a receiver's log with the ledger and with the history: each event was received in exactly one delivery and
 * taken, unless its attempts are exhausted; nothing else was received; and a post without a recorded attempt was under
 * way at a fault.
 */
function checkPosts(webhook: WebhookEvidence, evidence: Evidence): { lost: string[]; duplicates: number } {
  const { id: webhookId, events, posts, attempts } = webhook;
  const history = deliveriesOf(attempts);
  const lost: string[] = [];
  const received = Map.groupBy(posts, ({ event, about }) => nameOf({ event, ...about }));
  for (const name of happenedIn(evidence, events)) {
    const ofEvent = received.get(name) ?? [];
    received.delete(name);
    const ids = new Set(ofEvent.map(({ deliveryId }) => deliveryId));
    if (ids.size !== 1) lost.push(`${name} was received by ${webhookId} in ${ids.size} deliveries`);
    const ended = [...ids].some((id) => stateOf(history.get(id) ?? []) === 'exhausted');
    if (!ended && !ofEvent.some(isTaken)) lost.push(`${name} was not taken by ${webhookId}`);
  }
  lost.push(...[...received.keys()].map((name) => `${name} was received by ${webhookId} and is not to be`));

  let duplicates = 0;
  const byDelivery = Map.groupBy(posts, ({ deliveryId }) => deliveryId);
  for (const id of new Set([...history.keys(), ...byDelivery.keys()])) {
    const [recorded, sent] = [history.get(id) ?? [], byDelivery.get(id) ?? []];
    for (const [status, records] of Map.groupBy(recorded, ({ httpStatus }) => httpStatus))
      if (status !== 0 && sent.filter((post) => post.status === status).length < records.length)
        lost.push(`${id} records a response of ${status} that no receiver has sent`);
    if (new Set(sent.map(({ event, about }) => nameOf({ event, ...about }))).size > 1)
      lost.push(`${id} was received with several events`);
    const beyond = Math.max(0, sent.length - recorded.length);
    duplicates += beyond;
    if (sent.filter((post) => isAtFault(post, evidence)).length < beyond)
      lost.push(`${id} was posted ${sent.length} times with ${recorded.length} records, and no fault explains it`);
  }
  return { lost, duplicates };
}

const isTaken = ({ status }: Post) => status >= 200 && status < 300;

const nameOf = ({ event, id, status }: EventIdentity) => `${event} ${id} ${status}`;

/** Returns the names of the events that happened, of some kinds. */
function happenedIn({ ledger, executions }: Evidence, kinds: WebhookEvidence['events']): string[] {
  const happened = [
    ...[...ledger.tasks].flatMap(([task, { statuses }]) => eventsOf(task, statuses)),
    ...executions.flatMap(eventsOfExecution),
  ];
  return happened.filter(({ event }) => kinds.includes(event)).map(nameOf);
}

/** Whether a post was under way when the service was killed or stopped, or when a write of its delivery was disturbed. */
function isAtFault({ deliveryId, sentAt, endedAt }: Post, { interruptions, disturbed }: Evidence): boolean {
  return (
    interruptions.some(({ from, to }) => from <= endedAt + writtenWithinMs && to >= sentAt) ||
    disturbed.some(({ at, body }) => at >= sentAt && at <= sentAt + firstWriteMs && body.includes(ulidOf(deliveryId)))
  );
}
