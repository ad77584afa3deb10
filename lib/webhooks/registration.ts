import type { Context } from '../context.ts';
import { timeOf, timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { NewWebhook, Webhook } from '../contract/webhooks.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import { insertWebhook } from '../table/webhooks.ts';
import { rejectUrl } from './receivers.ts';

/**
 * Registers a URL that receives events from now on. Apart from the functions that read webhooks, which need no rules of
 * allowed receivers.
 *
 * @throws `ApiError` `validation_failed` or `url_not_allowed` for the URL, `limit_reached`
 */
export async function registerWebhook(
  context: Pick<Context, 'table' | 'secrets' | 'ulid' | 'allowedReceivers'>,
  organization: Organization,
  { url, events, secret }: NewWebhook,
  recordResponse: RecordResponse,
): Promise<Webhook> {
  rejectUrl(url, context.allowedReceivers);
  const id = context.ulid();
  const webhook = { id: `wh_${id}`, url, events, active: true, createdAt: timestamp(timeOf(id)) };
  const sealed = secret && (await context.secrets.seal(secret, { organization, webhook: webhook.id }));
  await insertWebhook(context, organization, webhook, sealed, recordResponse);
  return webhook;
}
