import type { Context } from '../context.ts';
import { notFound } from '../contract/errors.ts';
import type { EventName } from '../contract/events.ts';
import { timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { TestResult } from '../contract/webhooks.ts';
import { requestFields } from '../request-context.ts';
import { attemptItem } from '../table/deliveries/attempt-items.ts';
import { updatePace } from '../table/deliveries/webhook-attempts.ts';
import { readTarget } from '../table/deliveries/webhooks.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import { transact } from '../table/transact.ts';
import { attemptResultOf } from './deliveries/attempt-result.ts';
import { sampleOf } from './samples.ts';
import type { SecretsContext } from './secrets.ts';
import { type SenderContext, sendToReceiver } from './sender/sender.ts';
import { signedPost } from './sender/signed-post.ts';

/**
 * Sends a sample of an event to a webhook, signed like every attempt, and records it in the history. It is sent once,
 * whatever the result.
 *
 * @throws `ApiError` `not_found`
 */
export async function testWebhook(
  context: Pick<Context, 'table' | 'ulid' | 'clock'> & SenderContext & SecretsContext,
  organization: Organization,
  { webhookId, event }: { webhookId: string; event: EventName },
  recordResponse: RecordResponse,
): Promise<TestResult> {
  const { table, ulid, clock } = context;
  const target = await readTarget(context, organization, webhookId);
  if (!target) throw notFound('webhook');
  const begun = clock();
  const deliveryId = `dlv_${ulid()}`;
  const { data } = sampleOf(event, ulid, begun);
  const post = await signedPost(context, { deliveryId, event, data }, target, { organization, webhook: webhookId });
  const outcome = await sendToReceiver(context, post);
  const { httpStatus, responseBody, durationMs, error } = outcome;
  const result = { deliveryId, httpStatus, responseBody, durationMs, ...(error !== undefined && { error }) };
  const place = { organization, webhookId, deliveryId, attempt: 1, at: timestamp(begun) };
  const { record, slow } = attemptResultOf({ place, event }, outcome, clock());
  const row = { Put: { Item: attemptItem({ place, record, ...requestFields() }) } };
  await updatePace(context, organization, webhookId, target, { slow });
  await transact(table, [row, ...(recordResponse ? [recordResponse(result)] : [])]);
  return result;
}
