import { getDelivery as row } from '../../lib/contract/webhooks.ts';
import { serve } from '../../lib/http/serve.ts';
import { getDelivery } from '../../lib/webhooks/delivery-details.ts';

export const handler = serve(row, async ({ params, caller }, context) =>
  getDelivery(context, caller.organization, { webhookId: params.id, deliveryId: params.deliveryId }),
);
