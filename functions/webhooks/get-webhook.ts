import { getWebhook as row } from '../../lib/contract/webhooks/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';
import { getWebhook } from '../../lib/webhooks/webhooks.ts';

export const handler = serve(row, async ({ params, query, caller }, context) =>
  getWebhook(context, caller.organization, params.id, query.include),
);
