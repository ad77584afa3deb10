import { environment } from '../contract/deployment.ts';
import type { DeliveryMessage } from '../contract/messages.ts';
import { openDeliveryStore } from '../table/deliveries.ts';
import { openSlowWebhooks } from '../table/slow-webhooks.ts';
import { openWebhookStore } from '../table/webhooks.ts';
import { readAttemptLimits } from '../webhooks/attempt-limits.ts';
import { openDeliveries } from '../webhooks/deliveries.ts';
import { readLadder } from '../webhooks/ladder.ts';
import { appOf } from './base.ts';
import { queueOf } from './queues.ts';

/** The app of functions that tell webhooks of events. */
export const deliveriesApp = appOf((base) => {
  const { table, variables, secrets, ulid, clock } = base;
  return {
    deliveries: openDeliveries({
      store: openDeliveryStore(table),
      webhooks: { ...openWebhookStore(table), ...openSlowWebhooks(table) },
      queues: {
        deliveries: queueOf<DeliveryMessage>(base, 'deliveries'),
        slowDeliveries: queueOf<DeliveryMessage>(base, 'slowDeliveries'),
        firstRetry: queueOf<DeliveryMessage>(base, 'firstRetry'),
        secondRetry: queueOf<DeliveryMessage>(base, 'secondRetry'),
        thirdRetry: queueOf<DeliveryMessage>(base, 'thirdRetry'),
      },
      secrets,
      ladder: readLadder(variables[environment.retryLadder] || undefined),
      limits: readAttemptLimits(variables),
      ulid,
      clock,
    }),
  };
});
