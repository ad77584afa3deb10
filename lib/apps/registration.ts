import { openWebhookStore } from '../table/webhooks.ts';
import { openRegistration } from '../webhooks/registration.ts';
import { appOf } from './base.ts';
import { receivers } from './receivers.ts';

/** The app of the function that registers webhooks. */
export const registrationApp = appOf((base) => {
  const { table, secrets, ulid } = base;
  const { allowed } = receivers(base);
  return { registration: openRegistration({ store: openWebhookStore(table), secrets, allowed, ulid }) };
});
