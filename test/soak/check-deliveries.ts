import type { LoggedEvent } from '../../lib/table/deliveries/event-log.ts';
import type { Evidence, LoggedAttempt, WebhookEvidence } from './evidence.ts';
import { eventsOf, eventsOfExecution } from './ledger.ts';

/** A delivery by the two logs: an event for a webhook, and its attempts in their order. */
export type Delivery = {
  id: string;
  event: LoggedEvent | undefined;
  attempts: LoggedAttempt[];
  state: 'retrying' | 'delivered' | 'exhausted';
};

/** Returns the deliveries of a webhook, by its attempts. */
export function deliveriesOf({ attempts }: WebhookEvidence, events: readonly LoggedEvent[]): Delivery[] {
  const byId = new Map(events.map((event) => [event.id, event]));
  return [...Map.groupBy(attempts, ({ deliveryId }) => deliveryId)].map(([id, records]) => {
    const ordered = records.toSorted((a, b) => a.attempt - b.attempt);
    const last = ordered.at(-1) as LoggedAttempt;
    const failed = last.nextAttemptAt === undefined ? 'exhausted' : 'retrying';
    const state = last.error === undefined ? 'delivered' : failed;
    return { id, event: byId.get(last.eventId), attempts: ordered, state };
  });
}

/** Returns the faults of the event log, which has exactly one event for each change. */
export function checkEvents({ ledger, executions, events }: Evidence): string[] {
  const happened = [
    ...[...ledger.tasks].flatMap(([task, { statuses }]) => eventsOf(task, statuses)),
    ...executions.flatMap(eventsOfExecution),
  ].map(({ event, id, status }) => `${event} ${id} ${status}`);
  const logged = Map.groupBy(events, nameOf);
  const expected = new Set(happened);
  return [
    ...happened.filter((name) => !logged.has(name)).map((name) => `${name} is not in the event log`),
    ...[...logged.keys()].filter((name) => !expected.has(name)).map((name) => `${name} is logged and never happened`),
    ...[...logged]
      .filter(([, duplicates]) => duplicates.length > 1)
      .map(([name, duplicates]) => `${name} is ${duplicates.length} times in the event log`),
  ];
}

/** Returns the faults of a webhook's deliveries: exactly one for each subscribed event, and each has ended. */
export function checkDeliveries(webhook: WebhookEvidence, { events }: Pick<Evidence, 'events'>): string[] {
  const { id } = webhook;
  const deliveries = deliveriesOf(webhook, events);
  const subscribed = new Set(events.filter(({ event }) => webhook.events.includes(event)));
  const found = Map.groupBy(deliveries, ({ event }) => event);
  return [
    ...[...subscribed].filter((event) => !found.has(event)).map((event) => `${nameOf(event)} has no delivery to ${id}`),
    ...deliveries
      .filter(({ event }) => !event || !subscribed.has(event))
      .map((delivery) => `${delivery.id} to ${id} is of an event without its subscription`),
    ...[...found]
      .filter(([event, duplicates]) => event && duplicates.length > 1)
      .map(([event, duplicates]) => `${nameOf(event as LoggedEvent)} has ${duplicates.length} deliveries to ${id}`),
    ...deliveries
      .filter(({ state }) => state === 'retrying')
      .map((delivery) => `${delivery.id} to ${id} has not ended`),
  ];
}

/** Returns the name of an event, which is unique in a soak. */
function nameOf({ event, data }: LoggedEvent): string {
  const about = aboutOf(data);
  return `${event} ${about.id} ${about.status}`;
}

/** Returns the task or the execution of an event. */
export function aboutOf(data: string): { id: string; status: string } {
  const { task, execution } = JSON.parse(data);
  return task ?? execution;
}
