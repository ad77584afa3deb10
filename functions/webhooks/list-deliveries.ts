import { listDeliveries as row } from '../../lib/contract/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';
import { listDeliveries } from '../../lib/webhooks/webhooks.ts';

export const handler = serve(row, async ({ params, query, caller }, context) =>
  listDeliveries(context, caller.organization, params.id, query),
);
