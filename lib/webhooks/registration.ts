import { encryptSecret, type SecretsContext } from '../aws/secrets.ts';
import type { Context } from '../context/context.ts';
import { timeOf, timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { NewWebhook, Webhook } from '../contract/webhooks/webhooks.ts';
import { rejectUrl } from '../sender/receivers.ts';
import type { LogClockContext } from '../table/events/log-clock.ts';
import { logTimeOf } from '../table/events/log-times.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import { insertWebhook } from '../table/webhooks/webhooks.ts';

/**
 * Registers a URL that receives events from now on. It is not in `webhooks.ts`, because the functions that only read
 * webhooks do without the clients that encrypt secrets.
 *
 * @throws `ApiError` `validation_failed` or `url_not_allowed` for the URL, `limit_reached`
 */
export async function registerWebhook(
  context: Pick<Context, 'ulid' | 'allowedReceivers'> & LogClockContext & SecretsContext,
  organization: Organization,
  { url, events, description, taskFilter, maxPerSecond, autoRecover, secret }: NewWebhook,
  recordResponse: RecordResponse,
): Promise<Webhook> {
  rejectUrl(url, context.allowedReceivers);
  const id = context.ulid();
  const webhook = {
    id: `wh_${id}`,
    url,
    events,
    ...(description !== undefined && { description }),
    ...(taskFilter && { taskFilter }),
    ...(maxPerSecond !== undefined && { maxPerSecond }),
    ...(autoRecover !== undefined && { autoRecover }),
    active: true,
    createdAt: timestamp(timeOf(id)),
  };
  const encrypted = secret && (await encryptSecret(context, secret, { organization, webhook: webhook.id }));
  const since = await logTimeOf(context, organization, timeOf(id));
  await insertWebhook(context, organization, webhook, encrypted, recordResponse, since);
  const signed = secret !== undefined;
  return { ...webhook, signed, ...(signed && { secretChangedAt: webhook.createdAt }) };
}
