import type { EventName } from '../contract/events.ts';
import type { Organization } from '../contract/organization.ts';
import { notFound } from '../contract/refusals.ts';
import type { TestResult } from '../contract/webhooks.ts';
import type { DeliveryStore } from '../table/deliveries.ts';
import type { Once } from '../table/idempotency.ts';
import type { WebhookStore } from '../table/webhooks.ts';
import { attemptedOf } from './attempted.ts';
import { post } from './post.ts';
import { sampleOf } from './samples.ts';
import type { Secrets } from './secrets.ts';
import type { Sender } from './sender.ts';

/** What test deliveries are made of. */
export type TestDeliveryParts = {
  store: DeliveryStore;
  webhooks: WebhookStore;
  secrets: Secrets;
  ulid: () => string;
  clock: () => number;
};

/** Opens what sends test deliveries: a made-up event, to a webhook, now. */
export function openTestDelivery({ store, webhooks, secrets, ulid, clock }: TestDeliveryParts) {
  /**
   * Sends a sample of an event to a webhook, signed like every attempt, and records it in the history. It is made once,
   * whatever becomes of it.
   *
   * @throws `Refusal` `not_found`
   */
  return async (
    organization: Organization,
    { webhookId, event }: { webhookId: string; event: EventName },
    send: Sender,
    once: Once,
  ): Promise<TestResult> => {
    const target = await webhooks.target(organization, webhookId);
    if (!target) throw notFound();
    const id = `dlv_${ulid()}`;
    const { data } = sampleOf(event, ulid, clock());
    const context = { organization, webhook: webhookId };
    const outcome = await post({ deliveryId: id, event, data }, target, context, { secrets, clock, send });
    const { httpStatus, responseBody, durationMs, error } = outcome;
    const result = { deliveryId: id, httpStatus, responseBody, durationMs, ...(error !== undefined && { error }) };
    const attempted = attemptedOf({ id, deliveryId: id, attempt: 1, event }, outcome, clock());
    await store.record({ organization, webhookId }, attempted, once ? [once(result)] : []);
    return result;
  };
}
