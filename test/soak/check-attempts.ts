import type { LoggedEvent } from '../../lib/table/deliveries/event-log.ts';
import { type Delivery, deliveriesOf } from './check-deliveries.ts';
import type { LoggedAttempt, WebhookEvidence } from './evidence.ts';

/** The retry schedule has three steps. */
const mostAttempts = 4;

/** Returns the faults of a webhook's history: the attempts of each delivery have no gap, and the total is that of the rows. */
export function checkAttempts(webhook: WebhookEvidence, events: readonly LoggedEvent[]): string[] {
  const { id, attempts, total } = webhook;
  return [
    ...(total === attempts.length ? [] : [`the history of ${id} counts ${total} attempts and has ${attempts.length}`]),
    ...deliveriesOf(webhook, events).flatMap(faultsOf),
  ];
}

/** Returns the faults of the attempts of one delivery. */
function faultsOf({ id, attempts, state }: Delivery): string[] {
  const numbers = attempts.map(({ attempt }) => attempt).join(', ');
  const gapless = attempts.map((_, nth) => nth + 1).join(', ');
  const failed = attempts.filter(({ error }) => error !== undefined).length;
  const fails = state === 'exhausted' ? mostAttempts : attempts.length - 1;
  return [
    ...(numbers === gapless ? [] : [`${id} is ${state} and has recorded the attempts ${numbers}`]),
    ...(failed === fails || state === 'retrying'
      ? []
      : [`${id} is ${state} and ${failed} of its attempts have failed, not ${fails}`]),
    ...attempts
      .filter((record) => !isSound(record, id))
      .map((record) => `${id} has a wrong record: ${wordsFor(record)}`),
  ];
}

/** Whether the fields of a record agree: its number, and its error with its status. */
function isSound({ id, attempt, redelivery, error, httpStatus }: LoggedAttempt, deliveryId: string): boolean {
  const taken = httpStatus >= 200 && httpStatus < 300;
  return redelivery === attempt > 1 && (id === deliveryId) === (attempt === 1) && taken === (error === undefined);
}

const wordsFor = (record: LoggedAttempt) => JSON.stringify(record);
