import type { Page } from '../contract/endpoint.ts';
import { timeOf, timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { notFound } from '../contract/refusals.ts';
import type { DeliveryRecord, NewWebhook, Webhook } from '../contract/webhooks.ts';
import type { DeliveryStore } from '../table/deliveries.ts';
import type { Once } from '../table/idempotency.ts';
import type { WebhookStore } from '../table/webhooks.ts';
import { type Allowed, refuseUrl } from './receivers.ts';
import type { Secrets } from './secrets.ts';

/** What webhooks are made of. */
export type WebhookParts = {
  store: WebhookStore;
  deliveries: DeliveryStore;
  secrets: Secrets;
  allowed: Allowed;
  ulid: () => string;
  clock: () => number;
};

/** Webhooks: what callers can do with them (specification, "Webhooks"). */
export function openWebhooks({ store, deliveries, secrets, allowed, ulid, clock }: WebhookParts) {
  const found = async (organization: Organization, id: string): Promise<Webhook> => {
    const webhook = await store.get(organization, id);
    if (!webhook) throw notFound();
    return webhook;
  };

  return {
    /**
     * Registers a URL that hears events from now on.
     *
     * @throws `Refusal` `validation_failed` or `url_not_allowed` for the URL, `limit_reached`
     */
    async register(organization: Organization, { url, events, secret }: NewWebhook, once: Once): Promise<Webhook> {
      refuseUrl(url, allowed);
      const id = ulid();
      const webhook = { id: `wh_${id}`, url, events, active: true, createdAt: timestamp(timeOf(id)) };
      const sealed = secret && (await secrets.seal(secret, { organization, webhook: webhook.id }));
      await store.insert(organization, webhook, sealed, once);
      return webhook;
    },

    /** An organization's webhooks, newest first. */
    list: (organization: Organization): Promise<Webhook[]> => store.list(organization),

    /** @throws `Refusal` `not_found` */
    get: found,

    /**
     * Deletes a webhook; what is on its way to it is not sent any more.
     *
     * @throws `Refusal` `not_found`
     */
    async delete(organization: Organization, id: string): Promise<void> {
      await store.delete(organization, await found(organization, id));
    },

    /**
     * A page of the attempts to deliver to a webhook, newest first.
     *
     * @throws `Refusal` `not_found`
     */
    async history(
      organization: Organization,
      id: string,
      page: { limit: number; offset: number },
    ): Promise<Page<DeliveryRecord>> {
      await found(organization, id);
      return deliveries.history(organization, id, page, clock());
    },
  };
}
