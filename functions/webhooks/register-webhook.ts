import { keyedBase } from '../../lib/apps/keyed-base.ts';
import { webhooksApp } from '../../lib/apps/webhooks.ts';
import { registerWebhook } from '../../lib/contract/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  registerWebhook,
  async ({ body, caller, once }, { webhooks }) => webhooks.register(caller.organization, body, once),
  () => webhooksApp(keyedBase()),
);
