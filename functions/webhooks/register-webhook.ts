import { registerWebhook } from '../../lib/contract/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';
import { keyedApp } from '../../lib/keyed-app.ts';

export const handler = serve(
  registerWebhook,
  async ({ body, caller, once }, { webhooks }) => webhooks.register(caller.organization, body, once),
  keyedApp,
);
