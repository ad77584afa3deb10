import { environment } from '../contract/deployment.ts';
import type { SentDelivery } from '../contract/messages.ts';
import { openAttemptCounts } from '../table/attempt-counts.ts';
import { openAttemptLog } from '../table/attempt-log.ts';
import { openEventLog } from '../table/event-log.ts';
import { openSubscriptions } from '../table/subscriptions.ts';
import { openWebhookAttempts } from '../table/webhook-attempts.ts';
import { readAttemptLimits } from '../webhooks/attempt-limits.ts';
import { openDeliveries } from '../webhooks/deliveries.ts';
import { readLadder } from '../webhooks/ladder.ts';
import { appOf } from './base.ts';
import { queueOf } from './queues.ts';

/** The app of functions that tell webhooks of events. */
export const deliveriesApp = appOf((base) => {
  const { table, variables, secrets, clock } = base;
  return {
    deliveries: openDeliveries({
      events: openEventLog(table),
      attempts: openAttemptLog(table),
      counts: openAttemptCounts(table),
      webhooks: { ...openSubscriptions(table), ...openWebhookAttempts(table) },
      queues: {
        deliveries: queueOf<SentDelivery>(base, 'deliveries'),
        slowDeliveries: queueOf<SentDelivery>(base, 'slowDeliveries'),
        firstRetry: queueOf<SentDelivery>(base, 'firstRetry'),
        secondRetry: queueOf<SentDelivery>(base, 'secondRetry'),
        thirdRetry: queueOf<SentDelivery>(base, 'thirdRetry'),
      },
      secrets,
      ladder: readLadder(variables[environment.retryLadder] || undefined),
      limits: readAttemptLimits(variables),
      clock,
    }),
  };
});
