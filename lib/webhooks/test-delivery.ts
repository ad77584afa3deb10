import type { Context } from '../context/context.ts';
import { notFound } from '../contract/errors.ts';
import { timeOf, timestamp, ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { EventName } from '../contract/webhooks/events.ts';
import type { TestResult } from '../contract/webhooks/webhooks.ts';
import { sendToReceiver } from '../sender/sender.ts';
import { putInBatch } from '../table/access/batchers.ts';
import { requestFields } from '../table/access/current-request.ts';
import { transact } from '../table/access/transact.ts';
import { attemptItem } from '../table/deliveries/attempt-items.ts';
import { responseItem, responsesEnd } from '../table/deliveries/responses.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import { updatePace } from '../table/webhooks/webhook-attempts.ts';
import { readTarget } from '../table/webhooks/webhooks.ts';
import { noteSuccess } from './announce-failures.ts';
import { attemptResultOf } from './attempts/attempt-result.ts';
import { exchangeOf } from './attempts/exchange.ts';
import { signedPost } from './attempts/signed-post.ts';
import { sampleOf } from './samples.ts';

/**
 * Sends a sample of an event to a webhook, signed like every attempt, and records it in the history. It is sent once,
 * whatever the result. A success ends a time in which the webhook fails, and resumes it if it was paused because of that.
 *
 * @throws `ApiError` `not_found`
 */
export async function testWebhook(
  context: Context,
  organization: Organization,
  { webhookId, event }: { webhookId: string; event: EventName },
  recordResponse: RecordResponse,
): Promise<TestResult> {
  const { table, ulid, clock } = context;
  const target = await readTarget(context, organization, webhookId);
  if (!target) throw notFound('webhook');
  const deliveryId = `dlv_${ulid()}`;
  // The time in the id is the place of the attempt in the log, as for other first attempts.
  const begun = timeOf(ulidOf(deliveryId));
  const { data } = sampleOf(event, ulid, begun);
  const post = await signedPost(context, { deliveryId, event, data }, target, { organization, webhook: webhookId });
  const outcome = await sendToReceiver(context, post);
  const { httpStatus, responseBody, durationMs, error } = outcome;
  const result = { deliveryId, httpStatus, responseBody, durationMs, ...(error !== undefined && { error }) };
  const place = { organization, webhookId, deliveryId, attempt: 1, at: timestamp(begun) };
  const { record, slow } = attemptResultOf({ place, event }, outcome, clock());
  const { sent, response } = exchangeOf(post, outcome);
  const attempt = { place, record: { ...record, test: true }, ...requestFields(), sent, data: JSON.stringify(data) };
  const row = { Put: { Item: attemptItem(attempt) } };
  const expiresMs = responsesEnd(record.deliveredAt, context.responseDays);
  if (error === undefined) await noteSuccess(context, organization, webhookId, target, { resumes: true });
  await Promise.all([
    updatePace(context, organization, webhookId, target, { slow }),
    // Before the row, and not in its transaction, which would double the write units.
    response && putInBatch(context, responseItem(place, response, expiresMs)),
  ]);
  await transact(table, [row, ...(recordResponse?.(result) ?? [])]);
  return result;
}
