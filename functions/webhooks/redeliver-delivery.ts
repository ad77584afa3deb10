import { redeliverDelivery as row } from '../../lib/contract/webhooks/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';
import { redeliverDelivery } from '../../lib/webhooks/redelivery.ts';

export const handler = serve(row, async ({ params, caller, recordResponse }, context) =>
  redeliverDelivery(
    context,
    caller.organization,
    { webhookId: params.id, deliveryId: params.deliveryId },
    recordResponse,
  ),
);
