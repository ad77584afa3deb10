import { deliveriesApp } from '../../lib/apps/deliveries.ts';
import { DeliveryMessage } from '../../lib/deployment/messages.ts';
import { consumeQueue } from '../../lib/queue/consume.ts';
import { sendToReceiver } from '../../lib/webhooks/sender.ts';

export const handler = consumeQueue(
  DeliveryMessage,
  async (message, context) => context.deliveries.attempt(message, (post) => sendToReceiver(context, post)),
  deliveriesApp,
);
