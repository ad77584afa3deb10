import { listWebhooks as row } from '../../lib/contract/webhooks/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';
import { listWebhooks } from '../../lib/webhooks/webhooks.ts';

export const handler = serve(row, async ({ query, caller }, context) =>
  listWebhooks(context, caller.organization, query.include),
);
