import { webhooksApp } from '../../lib/apps/webhooks.ts';
import { listDeliveries } from '../../lib/contract/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  listDeliveries,
  async ({ params, query, caller }, { webhooks }) => webhooks.history(caller.organization, params.id, query),
  webhooksApp,
);
