import type { DeliveryRecord } from '../../lib/contract/webhooks.ts';
import type { Delivery } from '../../lib/table/delivery-items.ts';
import type { WebhookEvidence } from './evidence.ts';

/** The ladder has three steps. */
const mostAttempts = 4;

/** What is wrong with a webhook's history: each delivery's attempts without a gap, and the total that of the rows. */
export function recountAttempts({ id, deliveries, attempts, total }: WebhookEvidence): string[] {
  const recorded = Map.groupBy(attempts, ({ deliveryId }) => deliveryId);
  const known = new Set(deliveries.map((delivery) => delivery.id));
  return [
    ...(total === attempts.length ? [] : [`the history of ${id} counts ${total} attempts and has ${attempts.length}`]),
    ...[...recorded.keys()].filter((one) => !known.has(one)).map((one) => `${one} was attempted and is no delivery`),
    ...deliveries.flatMap((delivery) => faultsOf(delivery, recorded.get(delivery.id) ?? [])),
  ];
}

/** What is wrong with the attempts of one delivery. */
function faultsOf({ id, state, attempt }: Delivery, records: readonly DeliveryRecord[]): string[] {
  const ordered = records.toSorted((a, b) => a.attempt - b.attempt);
  const numbers = ordered.map((record) => record.attempt).join(', ');
  const gapless = Array.from({ length: attempt }, (_, nth) => nth + 1).join(', ');
  const failed = ordered.filter(({ error }) => error !== undefined).length;
  const fails = state === 'delivered' ? attempt - 1 : mostAttempts;
  return [
    ...(numbers === gapless
      ? []
      : [`${id} is ${state} at attempt ${attempt} and has recorded the attempts ${numbers}`]),
    ...(failed === fails ? [] : [`${id} is ${state} and ${failed} of its attempts have failed, not ${fails}`]),
    ...(state !== 'delivered' || succeeded(ordered.at(-1)) ? [] : [`${id} is delivered and its last attempt was not`]),
    ...ordered
      .filter((record) => record.redelivery !== record.attempt > 1 || (record.id === id) !== (record.attempt === 1))
      .map((record) => `${id} has a wrong record of attempt ${record.attempt}: ${JSON.stringify(record)}`),
  ];
}

const succeeded = (record: DeliveryRecord | undefined) =>
  record !== undefined && record.error === undefined && record.httpStatus >= 200 && record.httpStatus < 300;
