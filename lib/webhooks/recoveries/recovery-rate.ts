import type { StoredRecovery } from '../../table/recoveries/recoveries.ts';
import type { StoredWebhook } from '../../table/webhooks/webhooks.ts';

/** The maximum number of events per second of a recovery that 0.2 began, whose webhook sets none. */
const formerRate = 10;

/** Returns the time between two events that a recovery sends to a webhook, in milliseconds. */
export function slotMs(
  { maxPerSecond }: Pick<StoredWebhook, 'maxPerSecond'>,
  { ratePerSecond }: Pick<StoredRecovery, 'ratePerSecond'>,
): number {
  const rates = [maxPerSecond, ratePerSecond].filter((rate) => rate !== undefined);
  return 1000 / Math.min(...(rates.length > 0 ? rates : [formerRate]));
}
