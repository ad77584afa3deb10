import { isWebhookEvent } from '../contract/webhooks/events.ts';
import type { Webhook } from '../contract/webhooks/webhooks.ts';
import type { AttemptOutcome } from '../table/deliveries/outcomes.ts';
import type { Failing } from '../table/webhooks/failing.ts';
import { announcedFailure, type OwnEventsHolder } from '../table/webhooks/own-events.ts';
import { lastResume, type Pausable } from '../table/webhooks/pauses.ts';

/**
 * A webhook fails from the first failed attempt after its last success on. `webhook.failing` announces that when three
 * deliveries have failed, or one permanently; `webhook.recovered` announces the end. In between, the item of the webhook has
 * the time from which it fails.
 */

/** The part of a webhook that tells since when it fails. */
export type MayFail = Pausable & OwnEventsHolder & { failing?: Failing | undefined };

/**
 * Returns whether a failed attempt can be the beginning of a time in which a webhook fails. Tests and events about webhooks
 * cannot: two webhooks that receive the events about each other would otherwise let each other fail.
 */
export function canBeginFailure({ test, event }: Pick<AttemptOutcome, 'test' | 'event'>): boolean {
  return !test && !isWebhookEvent(event);
}

/** Returns what is known of the failures of a webhook since it was resumed; `undefined` if no check was made. */
export function knownOf(webhook: MayFail): Failing | undefined {
  const { failing } = webhook;
  return failing && Date.parse(failing.since) >= lastResume(webhook) ? failing : undefined;
}

/** Returns since when a webhook fails, as its item has it (ISO 8601); `undefined` if the item has no such time. */
export function storedFailure(webhook: MayFail): string | undefined {
  return announcedFailure(webhook) ?? knownOf(webhook)?.since;
}

/** The times of the latest attempts to a webhook, and since when deliveries to it only fail. */
type Health = Pick<Webhook, 'lastDeliveryAt' | 'lastSuccessAt' | 'lastFailureAt' | 'failingSince'>;

/** Returns the health of a webhook, from the newest outcomes and what its item has of its failures. */
export function healthOf(webhook: MayFail, newest: readonly AttemptOutcome[]): Health {
  const lastDeliveryAt = newest[0]?.deliveredAt;
  const successAt = newest.findIndex(({ error }) => error === undefined);
  const lastSuccessAt = newest[successAt]?.deliveredAt ?? webhook.failing?.lastSuccessAt;
  const lastFailureAt = newest.find(({ error }) => error !== undefined)?.deliveredAt;
  const resumedAt = lastResume(webhook);
  const failures = (successAt === -1 ? newest : newest.slice(0, successAt)).filter(
    (outcome) => canBeginFailure(outcome) && Date.parse(outcome.deliveredAt) >= resumedAt,
  );
  // The item knows an earlier time than the newest outcomes, unless they have a success.
  const known = successAt === -1 ? storedFailure(webhook) : undefined;
  const failingSince = failures.length > 0 ? (known ?? failures.at(-1)?.deliveredAt) : undefined;
  return {
    ...(lastDeliveryAt !== undefined && { lastDeliveryAt }),
    ...(lastSuccessAt !== undefined && { lastSuccessAt }),
    ...(lastFailureAt !== undefined && { lastFailureAt }),
    ...(failingSince !== undefined && { failingSince }),
  };
}
