import { keyedBase } from '../../lib/apps/keyed-base.ts';
import { registrationApp } from '../../lib/apps/registration.ts';
import { registerWebhook } from '../../lib/contract/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  registerWebhook,
  async ({ body, caller, once }, { registration }) => registration(caller.organization, body, once),
  () => registrationApp(keyedBase()),
);
