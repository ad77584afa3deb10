import { testWebhook } from '../../lib/contract/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';
import { keyedApp } from '../../lib/keyed-app.ts';
import { openSender } from '../../lib/webhooks/sender.ts';

export const handler = serve(
  testWebhook,
  async ({ params, body, caller, once }, { testDelivery, allowed }) =>
    testDelivery(caller.organization, { webhookId: params.id, event: body.event }, openSender(allowed), once),
  keyedApp,
);
