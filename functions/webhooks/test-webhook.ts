import { testWebhook as row } from '../../lib/contract/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';
import { testWebhook } from '../../lib/webhooks/test-delivery.ts';

export const handler = serve(row, async ({ params, body, caller, recordResponse }, context) =>
  testWebhook(context, caller.organization, { webhookId: params.id, event: body.event }, recordResponse),
);
