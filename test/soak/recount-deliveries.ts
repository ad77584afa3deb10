import type { LoggedEvent } from '../../lib/table/event-log.ts';
import type { Evidence, LoggedAttempt, WebhookEvidence } from './evidence.ts';
import { eventsOf, eventsOfExecution } from './ledger.ts';

/** A delivery by the two logs: an event on its way to a webhook, and the attempts at it in their order. */
export type Delivery = {
  id: string;
  told: LoggedEvent | undefined;
  attempts: LoggedAttempt[];
  state: 'retrying' | 'delivered' | 'exhausted';
};

/** The deliveries that a webhook's attempts are of. */
export function deliveriesOf({ attempts }: WebhookEvidence, events: readonly LoggedEvent[]): Delivery[] {
  const told = new Map(events.map((event) => [event.id, event]));
  return [...Map.groupBy(attempts, ({ deliveryId }) => deliveryId)].map(([id, records]) => {
    const ordered = records.toSorted((a, b) => a.attempt - b.attempt);
    const last = ordered.at(-1) as LoggedAttempt;
    const failed = last.nextAttemptAt === undefined ? 'exhausted' : 'retrying';
    const state = last.error === undefined ? 'delivered' : failed;
    return { id, told: told.get(last.eventId), attempts: ordered, state };
  });
}

/** What is wrong with the event log: exactly one for everything that happened. */
export function recountEvents({ ledger, executions, events }: Evidence): string[] {
  const happened = [
    ...[...ledger.tasks].flatMap(([task, { statuses }]) => eventsOf(task, statuses)),
    ...executions.flatMap(eventsOfExecution),
  ].map((told) => `${told.event} ${told.id} ${told.status}`);
  const logged = Map.groupBy(events, nameOf);
  const expected = new Set(happened);
  return [
    ...happened.filter((name) => !logged.has(name)).map((name) => `${name} is not in the event log`),
    ...[...logged.keys()].filter((name) => !expected.has(name)).map((name) => `${name} is logged and never happened`),
    ...[...logged]
      .filter(([, twins]) => twins.length > 1)
      .map(([name, twins]) => `${name} is ${twins.length} times in the event log`),
  ];
}

/** What is wrong with a webhook's deliveries: exactly one for each event that it hears, and each has come to its end. */
export function recountDeliveries(webhook: WebhookEvidence, { events }: Pick<Evidence, 'events'>): string[] {
  const { id } = webhook;
  const deliveries = deliveriesOf(webhook, events);
  const heard = new Set(events.filter(({ event }) => webhook.events.includes(event)));
  const found = Map.groupBy(deliveries, ({ told }) => told);
  return [
    ...[...heard].filter((event) => !found.has(event)).map((event) => `${nameOf(event)} has no delivery to ${id}`),
    ...deliveries
      .filter(({ told }) => !told || !heard.has(told))
      .map((delivery) => `${delivery.id} to ${id} is of an event that it does not hear`),
    ...[...found]
      .filter(([told, twins]) => told && twins.length > 1)
      .map(([told, twins]) => `${nameOf(told as LoggedEvent)} has ${twins.length} deliveries to ${id}`),
    ...deliveries
      .filter(({ state }) => state === 'retrying')
      .map((delivery) => `${delivery.id} to ${id} has not come to an end`),
  ];
}

/** What an event tells: no two events of a soak tell the same. */
function nameOf({ event, data }: LoggedEvent): string {
  const about = aboutOf(data);
  return `${event} ${about.id} ${about.status}`;
}

/** The task or the execution that an event tells of. */
export function aboutOf(data: string): { id: string; status: string } {
  const { task, execution } = JSON.parse(data);
  return task ?? execution;
}
