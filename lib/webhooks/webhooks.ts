import type { Page } from '../contract/endpoint.ts';
import type { Organization } from '../contract/organization.ts';
import { notFound } from '../contract/refusals.ts';
import type { DeliveryRecord, Webhook } from '../contract/webhooks.ts';
import type { History } from '../table/history.ts';
import type { WebhookStore } from '../table/webhooks.ts';

/** What webhooks are made of. */
export type WebhookParts = { store: WebhookStore; history: History; clock: () => number };

/** Webhooks: what callers can do with them. `registration.ts` makes new ones. */
export function openWebhooks({ store, history, clock }: WebhookParts) {
  const found = async (organization: Organization, id: string): Promise<Webhook> => {
    const webhook = await store.get(organization, id);
    if (!webhook) throw notFound();
    return webhook;
  };

  /** A webhook with the end of its newest attempt. Versions before the attempt log have written that on the webhook. */
  const ended = (webhook: Webhook, lastEnd: string | undefined): Webhook =>
    lastEnd === undefined ? webhook : { ...webhook, lastDeliveryAt: lastEnd };

  return {
    /** An organization's webhooks, newest first. */
    async list(organization: Organization): Promise<Webhook[]> {
      const webhooks = await store.list(organization);
      const ends = await Promise.all(webhooks.map(({ id }) => history.lastEnd(organization, id)));
      return webhooks.map((webhook, at) => ended(webhook, ends[at]));
    },

    /** @throws `Refusal` `not_found` */
    async get(organization: Organization, id: string): Promise<Webhook> {
      const [webhook, lastEnd] = await Promise.all([found(organization, id), history.lastEnd(organization, id)]);
      return ended(webhook, lastEnd);
    },

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
      return history.page(organization, id, page, clock());
    },
  };
}
