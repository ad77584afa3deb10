import { listWebhookEvents as eventsRow } from '../../lib/contract/webhooks/webhook-events.ts';
import * as rows from '../../lib/contract/webhooks/webhooks.ts';
import { byRoute } from '../../lib/http/by-route.ts';
import { serve } from '../../lib/http/serve.ts';
import { getDelivery } from '../../lib/webhooks/delivery-details.ts';
import { listWebhookEvents } from '../../lib/webhooks/webhook-events.ts';
import { listDeliveries } from '../../lib/webhooks/webhooks.ts';

const list = serve(rows.listDeliveries, async ({ params, query, caller }, context) =>
  listDeliveries(context, caller.organization, params.id, query),
);

const get = serve(rows.getDelivery, async ({ params, caller }, context) =>
  getDelivery(context, caller.organization, { webhookId: params.id, deliveryId: params.deliveryId }),
);

const listEvents = serve(eventsRow, async ({ params, query, caller }, context) =>
  listWebhookEvents(context, caller.organization, params.id, query),
);

export const handler = byRoute([rows.listDeliveries, list], [rows.getDelivery, get], [eventsRow, listEvents]);
