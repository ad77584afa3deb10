import { webhooksApp } from '../../lib/apps/webhooks.ts';
import { listWebhooks } from '../../lib/contract/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  listWebhooks,
  async ({ caller }, { webhooks }) => webhooks.list(caller.organization),
  webhooksApp,
);
