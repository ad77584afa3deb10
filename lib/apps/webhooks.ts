import { openDeliveryStore } from '../table/deliveries.ts';
import { openWebhookStore } from '../table/webhooks.ts';
import { openTestDelivery } from '../webhooks/test-delivery.ts';
import { openWebhooks } from '../webhooks/webhooks.ts';
import { appOf } from './base.ts';
import { receivers } from './receivers.ts';

/** The app of functions that serve webhooks and their history, and send test deliveries. */
export const webhooksApp = appOf((base) => {
  const { table, secrets, ulid, clock } = base;
  const { allowed } = receivers(base);
  const [webhooks, deliveries] = [openWebhookStore(table), openDeliveryStore(table)];
  return {
    allowed,
    webhooks: openWebhooks({ store: webhooks, deliveries, secrets, allowed, ulid, clock }),
    testDelivery: openTestDelivery({ store: deliveries, webhooks, secrets, ulid, clock }),
  };
});
