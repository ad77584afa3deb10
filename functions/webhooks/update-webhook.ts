import { updateWebhook as row } from '../../lib/contract/webhooks/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';
import { updateWebhook } from '../../lib/webhooks/webhooks.ts';

export const handler = serve(row, async ({ params, body, caller, ifMatch }, context) =>
  updateWebhook(context, caller.organization, params.id, body, ifMatch),
);
