import type { DeliveryMessage } from '../../names/messages.ts';
import type { Waits } from '../../names/metrics.ts';
import type { TableContext } from '../../table/access/client.ts';
import { activeSince } from '../../table/webhooks/pauses.ts';
import { readTarget, type Target } from '../../table/webhooks/webhooks.ts';
import { mayWait } from './attempt-limits.ts';

/** An attempt that waits, and how long a worker could have made it; negative before the first chance. */
type Wait = { message: DeliveryMessage; lateMs: number };

/**
 * The longest waits that a sweep has found, in milliseconds. Waits for slow receivers are apart: a slow receiver delays its
 * own deliveries, and must not hide that others wait too.
 */
export type LongestWaits = {
  promptMs: number;
  slowMs: number;
  /** The targets that were read, by the id of the webhook. */
  targets: Map<string, Promise<Target | undefined>>;
};

/** Creates the state of a sweep that has found no wait. */
export function createWaits(): LongestWaits {
  return { promptMs: 0, slowMs: 0, targets: new Map() };
}

/** Adds waits. Reads only webhooks whose attempts may have the longest wait, each once. */
export async function addWaits(context: TableContext, waits: LongestWaits, added: readonly Wait[]): Promise<void> {
  for (const { message, lateMs } of added.toSorted((a, b) => b.lateMs - a.lateMs)) {
    if (lateMs <= waits.promptMs) return;
    const target = await targetOf(context, waits, message);
    // Nothing is sent to a deleted webhook.
    if (!target) continue;
    const longest = mayWait(target) ? 'slowMs' : 'promptMs';
    waits[longest] = Math.max(waits[longest], waitedMs(target, { message, lateMs }));
  }
}

/** Returns how long an attempt has waited while its webhook was active. */
function waitedMs({ pauses }: Target, { message: { dueAt }, lateMs }: Wait): number {
  return pauses === undefined ? lateMs : Math.min(lateMs, Date.parse(dueAt) + lateMs - activeSince({ pauses }));
}

/** Returns the longest waits in whole seconds. */
export function waitsInSeconds({ promptMs, slowMs }: LongestWaits): Waits {
  return { DeliveriesLate: Math.round(promptMs / 1000), SlowDeliveriesLate: Math.round(slowMs / 1000) };
}

function targetOf(
  context: TableContext,
  { targets }: LongestWaits,
  { organization, webhookId }: DeliveryMessage,
): Promise<Target | undefined> {
  const target = targets.get(webhookId) ?? readTarget(context, organization, webhookId);
  targets.set(webhookId, target);
  return target;
}
