import { webhooksApp } from '../../lib/apps/webhooks.ts';
import { getWebhook } from '../../lib/contract/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  getWebhook,
  async ({ params, caller }, { webhooks }) => webhooks.get(caller.organization, params.id),
  webhooksApp,
);
