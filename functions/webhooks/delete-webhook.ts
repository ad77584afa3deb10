import { webhooksApp } from '../../lib/apps/webhooks.ts';
import { deleteWebhook } from '../../lib/contract/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  deleteWebhook,
  async ({ params, caller }, { webhooks }) => webhooks.delete(caller.organization, params.id),
  webhooksApp,
);
