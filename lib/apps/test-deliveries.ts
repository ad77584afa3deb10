import { openWebhookAttempts } from '../table/webhook-attempts.ts';
import { openWebhookStore } from '../table/webhooks.ts';
import { openTestDelivery } from '../webhooks/test-delivery.ts';
import { appOf } from './base.ts';
import { receivers } from './receivers.ts';

/** The app of the function that sends test deliveries. */
export const testDeliveriesApp = appOf((base) => {
  const { table, secrets, ulid, clock } = base;
  const { allowed } = receivers(base);
  const webhooks = { ...openWebhookStore(table), ...openWebhookAttempts(table) };
  return { allowed, testDelivery: openTestDelivery({ table, webhooks, secrets, ulid, clock }) };
});
