import { DeliveryMessage } from '../../lib/contract/messages.ts';
import { keyedApp } from '../../lib/keyed-app.ts';
import { consumeQueue } from '../../lib/queue/consume.ts';
import { openSender } from '../../lib/webhooks/sender.ts';

export const handler = consumeQueue(
  DeliveryMessage,
  async (message, { deliveries, allowed }) => deliveries.attempt(message, openSender(allowed)),
  keyedApp,
);
