import { DeliveryMessage } from '../../lib/deployment/messages.ts';
import { consumeQueue } from '../../lib/queue/consume.ts';
import { deliverWebhook } from '../../lib/webhooks/deliveries/deliver-webhook.ts';

export const handler = consumeQueue(DeliveryMessage, async (message, context) => deliverWebhook(context, message));
