import type { Evidence } from './evidence.ts';
import { recountAttempts } from './recount-attempts.ts';
import { recountBoard } from './recount-board.ts';
import { deliveriesOf, recountDeliveries, recountEvents } from './recount-deliveries.ts';
import { recountExecutions } from './recount-executions.ts';
import { recountPosts } from './recount-posts.ts';

/** What a recount comes to. `lost` is everything that is not as it must be, in words. */
export type Recount = {
  lost: string[];
  executions: Record<string, number>;
  deliveries: Record<string, number>;
  attempts: number;
  duplicates: number;
};

/** Recounts what the service has answered for: nothing may be lost, made up or done twice without a fault to explain it. */
export function recount(evidence: Evidence): Recount {
  const { events, underWay, webhooks } = evidence;
  const posts = webhooks.map((webhook) => recountPosts(webhook, events, evidence));
  const lost = [
    ...recountBoard(evidence),
    ...recountExecutions(evidence),
    ...recountEvents(evidence),
    ...webhooks.flatMap((webhook) => [...recountDeliveries(webhook, evidence), ...recountAttempts(webhook, events)]),
    ...underWay.map(
      ({ deliveryId, attempt }) => `attempt ${attempt} of ${deliveryId} is missing, by the service's own check`,
    ),
    ...posts.flatMap((counted) => counted.lost),
    ...evidence.due.map((key) => `${key} is still in the due index`),
  ];
  const deliveries = webhooks.flatMap((webhook) => deliveriesOf(webhook, events));
  return {
    lost,
    executions: countsOf(evidence.executions, ({ status }) => status),
    deliveries: countsOf(deliveries, ({ state }) => state),
    attempts: webhooks.reduce((sum, { attempts }) => sum + attempts.length, 0),
    duplicates: posts.reduce((sum, { duplicates }) => sum + duplicates, 0),
  };
}

/** How many there are of each kind. */
function countsOf<Value>(values: readonly Value[], kindOf: (value: Value) => string): Record<string, number> {
  const kinds = [...Map.groupBy(values, kindOf)];
  return Object.fromEntries(kinds.map(([kind, alike]) => [kind, alike.length]));
}
