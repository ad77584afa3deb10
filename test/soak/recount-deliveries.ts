import type { Delivery } from '../../lib/table/delivery-items.ts';
import type { Evidence, WebhookEvidence } from './evidence.ts';
import { eventsOf, eventsOfExecution } from './ledger.ts';

/** What is wrong with a webhook's deliveries: exactly one for each event that it hears, and each has come to its end. */
export function recountDeliveries(
  { id, events, deliveries }: WebhookEvidence,
  { ledger, executions }: Pick<Evidence, 'ledger' | 'executions'>,
): string[] {
  const happened = [
    ...[...ledger.tasks].flatMap(([task, { statuses }]) => eventsOf(task, statuses)),
    ...executions.flatMap(eventsOfExecution),
  ];
  const expected = new Set(
    happened.filter(({ event }) => events.includes(event)).map((told) => `${told.event} ${told.id} ${told.status}`),
  );
  const found = new Map<string, Delivery[]>();
  for (const delivery of deliveries) {
    const { task, execution } = JSON.parse(delivery.data);
    const about = task ?? execution;
    const name = `${delivery.event} ${about.id} ${about.status}`;
    found.set(name, [...(found.get(name) ?? []), delivery]);
  }
  return [
    ...[...expected].filter((name) => !found.has(name)).map((name) => `${name} has no delivery to ${id}`),
    ...[...found.keys()]
      .filter((name) => !expected.has(name))
      .map((name) => `${name} was delivered and never happened`),
    ...[...found]
      .filter(([, twins]) => twins.length > 1)
      .map(([name, twins]) => `${name} has ${twins.length} deliveries to ${id}`),
    // No webhook is deleted here, so none may be skipped either.
    ...deliveries
      .filter(({ state }) => state !== 'delivered' && state !== 'exhausted')
      .map((delivery) => `${delivery.id} to ${id} has not come to an end: ${delivery.state}`),
  ];
}
