import { deleteWebhook as row } from '../../lib/contract/webhooks/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';
import { deleteWebhook } from '../../lib/webhooks/webhooks.ts';

export const handler = serve(row, async ({ params, caller, ifMatch }, context) =>
  deleteWebhook(context, caller.organization, params.id, ifMatch),
);
