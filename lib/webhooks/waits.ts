import type { Organization } from '../contract/organization.ts';
import type { DeliveryMessage } from '../deployment/messages.ts';
import type { Waits } from '../deployment/metrics.ts';
import type { Target } from '../table/webhooks.ts';

/** An attempt that waits, and for how long a worker could have made it; negative where one could not yet. */
type Wait = { message: DeliveryMessage; lateMs: number };

/**
 * Finds the longest wait among attempts, for webhooks with slow receivers apart from all others: a slow receiver keeps
 * its own deliveries waiting, and must not hide that others wait too.
 */
export function openWaits(readTarget: (organization: Organization, webhookId: string) => Promise<Target | undefined>) {
  const targets = new Map<string, Promise<Target | undefined>>();
  let [longestMs, longestSlowMs] = [0, 0];

  const targetOf = ({ organization, webhookId }: DeliveryMessage) => {
    const target = targets.get(webhookId) ?? readTarget(organization, webhookId);
    targets.set(webhookId, target);
    return target;
  };

  return {
    /** Notes waits. Only webhooks of attempts that may have waited longest are read, each once. */
    async note(waits: readonly Wait[]): Promise<void> {
      for (const { message, lateMs } of waits.toSorted((a, b) => b.lateMs - a.lateMs)) {
        if (lateMs <= longestMs) return;
        const target = await targetOf(message);
        if (target?.slow) longestSlowMs = Math.max(longestSlowMs, lateMs);
        // Of a webhook that was deleted nothing is sent, however late.
        else if (target) longestMs = lateMs;
      }
    },

    /** Whether the receiver of an attempt is slow. */
    isSlow: async (message: DeliveryMessage): Promise<boolean> => (await targetOf(message))?.slow === true,

    /** The longest waits that were noted, in whole seconds. */
    longest: (): Waits => ({
      DeliveriesLate: Math.round(longestMs / 1000),
      SlowDeliveriesLate: Math.round(longestSlowMs / 1000),
    }),
  };
}
