import type { Waits } from '../contract/metrics.ts';
import type { Delivery } from '../table/delivery-items.ts';
import type { Target, WebhookStore } from '../table/webhooks.ts';

/** A delivery, and for how long a worker could have attempted it; negative where one could not yet. */
type Wait = { delivery: Delivery; lateMs: number };

/**
 * Finds the longest wait among deliveries, for webhooks with slow receivers apart from all others: a slow receiver keeps
 * its own deliveries waiting, and must not hide that others wait too.
 */
export function openWaits(webhooks: Pick<WebhookStore, 'target'>) {
  const targets = new Map<string, Promise<Target | undefined>>();
  let [longestMs, longestSlowMs] = [0, 0];

  const targetOf = ({ organization, webhookId }: Delivery) => {
    const target = targets.get(webhookId) ?? webhooks.target(organization, webhookId);
    targets.set(webhookId, target);
    return target;
  };

  return {
    /** Notes waits. Only webhooks of deliveries that may be the longest are read, each once. */
    async note(waits: readonly Wait[]): Promise<void> {
      for (const { delivery, lateMs } of waits.toSorted((a, b) => b.lateMs - a.lateMs)) {
        if (lateMs <= longestMs) return;
        const target = await targetOf(delivery);
        if (target?.slow) longestSlowMs = Math.max(longestSlowMs, lateMs);
        // Of a webhook that was deleted nothing is sent, however late.
        else if (target) longestMs = lateMs;
      }
    },

    /** The longest waits that were noted, in whole seconds. */
    longest: (): Waits => ({
      DeliveriesLate: Math.round(longestMs / 1000),
      SlowDeliveriesLate: Math.round(longestSlowMs / 1000),
    }),
  };
}
