import { checkAttempts } from './check-attempts.ts';
import { checkDeliveries, checkEvents, deliveriesOf } from './check-deliveries.ts';
import { checkExecutions } from './check-executions.ts';
import { checkPosts } from './check-posts.ts';
import { checkTasks } from './check-tasks.ts';
import type { Evidence } from './evidence.ts';

/** The result of a check. `lost` has a sentence for each fault. */
export type Checked = {
  lost: string[];
  executions: Record<string, number>;
  deliveries: Record<string, number>;
  attempts: number;
  duplicates: number;
};

/** Checks all data of a soak: nothing is lost, invented, or done twice without a fault that explains it. */
export function check(evidence: Evidence): Checked {
  const { events, underWay, webhooks } = evidence;
  const posts = webhooks.map((webhook) => checkPosts(webhook, events, evidence));
  const lost = [
    ...checkTasks(evidence),
    ...checkExecutions(evidence),
    ...checkEvents(evidence),
    ...webhooks.flatMap((webhook) => [...checkDeliveries(webhook, evidence), ...checkAttempts(webhook, events)]),
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

/** Returns the number of values of each kind. */
function countsOf<Value>(values: readonly Value[], kindOf: (value: Value) => string): Record<string, number> {
  const kinds = [...Map.groupBy(values, kindOf)];
  return Object.fromEntries(kinds.map(([kind, alike]) => [kind, alike.length]));
}
