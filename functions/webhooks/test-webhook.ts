import { keyedBase } from '../../lib/apps/keyed-base.ts';
import { testDeliveriesApp } from '../../lib/apps/test-deliveries.ts';
import { testWebhook } from '../../lib/contract/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';
import { openSender } from '../../lib/webhooks/sender.ts';

export const handler = serve(
  testWebhook,
  async ({ params, body, caller, once }, { testDelivery, allowed }) =>
    testDelivery(caller.organization, { webhookId: params.id, event: body.event }, openSender(allowed), once),
  () => testDeliveriesApp(keyedBase()),
);
