import type { Delivery } from '../../lib/table/delivery-items.ts';
import type { WebhookEvidence } from './evidence.ts';
import { eventsOf, type Ledger } from './ledger.ts';

/** What is wrong with a webhook's deliveries: exactly one for each event that it hears, and each has come to its end. */
export function recountDeliveries({ id, events, deliveries }: WebhookEvidence, ledger: Ledger): string[] {
  const expected = new Set(
    [...ledger.tasks]
      .flatMap(([task, { statuses }]) => eventsOf(task, statuses))
      .filter(({ event }) => events.includes(event))
      .map(({ event, task, status }) => `${event} ${task} ${status}`),
  );
  const found = new Map<string, Delivery[]>();
  for (const delivery of deliveries) {
    const { task } = JSON.parse(delivery.data);
    const name = `${delivery.event} ${task.id} ${task.status}`;
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
