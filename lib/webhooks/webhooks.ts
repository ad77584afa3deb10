import type { Context } from '../context.ts';
import type { Page } from '../contract/endpoint.ts';
import { notFound } from '../contract/errors.ts';
import type { Organization } from '../contract/organization.ts';
import type { DeliveryRecord, Webhook } from '../contract/webhooks.ts';
import type { TableContext } from '../table/client.ts';
import { readAttemptPage, readLastAttemptEnd } from '../table/deliveries/history.ts';
import { readWebhook, readWebhooks, removeWebhook } from '../table/deliveries/webhooks.ts';

/** Returns the webhooks of an organization, newest first. */
export async function listWebhooks(context: TableContext, organization: Organization): Promise<Webhook[]> {
  const webhooks = await readWebhooks(context, organization);
  const ends = await Promise.all(webhooks.map(({ id }) => readLastAttemptEnd(context, organization, id)));
  return webhooks.map((webhook, at) => withLastEnd(webhook, ends[at]));
}

/**
 * Returns a webhook.
 *
 * @throws `ApiError` `not_found`
 */
export async function getWebhook(context: TableContext, organization: Organization, id: string): Promise<Webhook> {
  const [webhook, lastEnd] = await Promise.all([
    requireWebhook(context, organization, id),
    readLastAttemptEnd(context, organization, id),
  ]);
  return withLastEnd(webhook, lastEnd);
}

/**
 * Deletes a webhook. Its waiting deliveries are not sent.
 *
 * @throws `ApiError` `not_found`
 */
export async function deleteWebhook(context: TableContext, organization: Organization, id: string): Promise<void> {
  await removeWebhook(context, organization, await requireWebhook(context, organization, id));
}

/**
 * Returns a page of the attempts to deliver to a webhook, newest first.
 *
 * @throws `ApiError` `not_found`
 */
export async function listDeliveries(
  context: Pick<Context, 'table' | 'clock'>,
  organization: Organization,
  id: string,
  page: { limit: number; offset: number },
): Promise<Page<DeliveryRecord>> {
  await requireWebhook(context, organization, id);
  return readAttemptPage(context, organization, id, page);
}

async function requireWebhook(context: TableContext, organization: Organization, id: string): Promise<Webhook> {
  const webhook = await readWebhook(context, organization, id);
  if (!webhook) throw notFound('webhook');
  return webhook;
}

/** Returns a webhook with the end of its newest attempt. Versions before the attempt log stored it in the webhook. */
function withLastEnd(webhook: Webhook, lastEnd: string | undefined): Webhook {
  return lastEnd === undefined ? webhook : { ...webhook, lastDeliveryAt: lastEnd };
}
