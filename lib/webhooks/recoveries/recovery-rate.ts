import type { StoredWebhook } from '../../table/deliveries/webhooks.ts';

/** The maximum number of events per second that a receiver gets from a recovery, if its webhook sets none. */
const standardRate = 10;

/** Returns the time between two events that a recovery sends to a webhook, in milliseconds. */
export function slotMs({ maxPerSecond = standardRate }: StoredWebhook): number {
  return 1000 / maxPerSecond;
}
