import { setTimeout as wait } from 'node:timers/promises';
import type { WebhookPatch } from '../../lib/contract/webhooks/webhooks.ts';
import type { Registered } from './check/evidence.ts';
import type { Requested } from './check/webhook-rules.ts';
import type { ServiceProcess } from './service-process.ts';
import { untilSuccess } from './until-success.ts';

/** The changes of the webhooks of a soak. Changes of one kind and webhook happen one after the other. */
export type WebhookChanges = {
  /** Pauses the webhook of a receiver for some milliseconds. */
  pause: (receiver: number, forMs: number, over: AbortSignal) => Promise<void>;
  /** Sets the maximum rate of the webhook of a receiver. */
  limit: (receiver: number, maxPerSecond: number | null, over: AbortSignal) => Promise<void>;
  /** Takes all maximum rates away. */
  relent: (over: AbortSignal) => Promise<void>;
};

/** Creates the functions that change webhooks, and that note the changes in `pauses` and `rates` of the webhooks. */
export function createWebhookChanges(service: ServiceProcess, registered: readonly Registered[]): WebhookChanges {
  const last = new Map<string, Promise<unknown>>();

  function inTurn(kind: string, receiver: number, change: (webhook: Registered) => Promise<unknown>): Promise<void> {
    const webhook = registered[receiver] as Registered;
    const key = `${kind} ${webhook.id}`;
    const changed = (last.get(key) ?? Promise.resolve()).then(() => change(webhook));
    last.set(key, changed);
    return changed.then(() => {});
  }

  async function patch({ id }: Registered, body: WebhookPatch, over: AbortSignal): Promise<Requested> {
    const sentAt = Date.now();
    await untilSuccess({ service, over }, (api) => api.updateWebhook({ params: { id }, body }));
    return { sentAt, answeredAt: Date.now() };
  }

  const limit: WebhookChanges['limit'] = (receiver, maxPerSecond, over) =>
    inTurn('rate', receiver, async (webhook) => {
      webhook.rates.push({ ...(await patch(webhook, { maxPerSecond }, over)), maxPerSecond });
    });

  return {
    pause: (receiver, forMs, over) =>
      inTurn('pause', receiver, async (webhook) => {
        const from = await patch(webhook, { active: false }, over);
        await wait(forMs, undefined, { signal: over });
        webhook.pauses.push({ from, until: await patch(webhook, { active: true }, over) });
      }),
    limit,
    relent: async (over) => {
      await Promise.all(registered.map(({ rates }, nth) => rates.length > 0 && limit(nth, null, over)));
    },
  };
}
