import type { EventName } from '../contract/events.ts';
import { timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { notFound } from '../contract/refusals.ts';
import type { TestResult } from '../contract/webhooks.ts';
import { requestFields } from '../request-context.ts';
import { attemptItem } from '../table/attempt-items.ts';
import type { Table } from '../table/client.ts';
import type { Once } from '../table/idempotency.ts';
import { transact } from '../table/transact.ts';
import type { WebhookAttempts } from '../table/webhook-attempts.ts';
import type { WebhookStore } from '../table/webhooks.ts';
import { attemptedOf } from './attempted.ts';
import { post } from './post.ts';
import { sampleOf } from './samples.ts';
import type { Secrets } from './secrets.ts';
import type { Sender } from './sender.ts';

/** What test deliveries are made of. */
export type TestDeliveryParts = {
  table: Table;
  webhooks: Pick<WebhookStore, 'target'> & Pick<WebhookAttempts, 'pace'>;
  secrets: Secrets;
  ulid: () => string;
  clock: () => number;
};

/** Opens what sends test deliveries: a made-up event, to a webhook, now. */
export function openTestDelivery({ table, webhooks, secrets, ulid, clock }: TestDeliveryParts) {
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
    const begun = clock();
    const deliveryId = `dlv_${ulid()}`;
    const { data } = sampleOf(event, ulid, begun);
    const context = { organization, webhook: webhookId };
    const outcome = await post({ deliveryId, event, data }, target, context, { secrets, clock, send });
    const { httpStatus, responseBody, durationMs, error } = outcome;
    const result = { deliveryId, httpStatus, responseBody, durationMs, ...(error !== undefined && { error }) };
    const place = { organization, webhookId, deliveryId, attempt: 1, at: timestamp(begun) };
    const { record, slow } = attemptedOf({ place, event }, outcome, clock());
    const row = { Put: { Item: attemptItem({ place, record, ...requestFields() }) } };
    await webhooks.pace(organization, webhookId, target, { slow });
    await transact(table, [row, ...(once ? [once(result)] : [])]);
    return result;
  };
}
