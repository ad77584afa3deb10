import { environment } from '../deployment/environment.ts';
import { openAttemptCounts } from '../table/attempt-counts.ts';
import { openAttemptLog } from '../table/attempt-log.ts';
import { openWebhookAttempts } from '../table/webhook-attempts.ts';
import { readAttemptLimits } from '../webhooks/attempt-limits.ts';
import { openDeliveries } from '../webhooks/deliveries.ts';
import { readRetrySchedule } from '../webhooks/retry-schedule.ts';
import { appOf } from './base.ts';
import { publisherApp } from './publisher.ts';

/** The app of functions that tell webhooks of events. */
export const deliveriesApp = appOf((base) => {
  const { table, variables } = base;
  const { publisherParts } = publisherApp(base);
  return {
    deliveries: openDeliveries({
      ...publisherParts,
      attempts: openAttemptLog(table),
      counts: openAttemptCounts(table),
      webhooks: { ...publisherParts.webhooks, ...openWebhookAttempts(table) },
      secrets: base,
      retrySchedule: readRetrySchedule(variables[environment.retryLadder] || undefined),
      limits: readAttemptLimits(variables),
    }),
  };
});
