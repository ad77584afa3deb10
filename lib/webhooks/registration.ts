import { timeOf, timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { NewWebhook, Webhook } from '../contract/webhooks.ts';
import type { Once } from '../table/idempotency.ts';
import type { WebhookStore } from '../table/webhooks.ts';
import { type Allowed, refuseUrl } from './receivers.ts';
import type { Secrets } from './secrets.ts';

/** What registrations are made of. */
export type RegistrationParts = { store: WebhookStore; secrets: Secrets; allowed: Allowed; ulid: () => string };

/** Opens what registers webhooks: apart from what reads them, which needs no rules of who may be sent to. */
export function openRegistration({ store, secrets, allowed, ulid }: RegistrationParts) {
  /**
   * Registers a URL that hears events from now on.
   *
   * @throws `Refusal` `validation_failed` or `url_not_allowed` for the URL, `limit_reached`
   */
  return async (organization: Organization, { url, events, secret }: NewWebhook, once: Once): Promise<Webhook> => {
    refuseUrl(url, allowed);
    const id = ulid();
    const webhook = { id: `wh_${id}`, url, events, active: true, createdAt: timestamp(timeOf(id)) };
    const sealed = secret && (await secrets.seal(secret, { organization, webhook: webhook.id }));
    await store.insert(organization, webhook, sealed, once);
    return webhook;
  };
}
