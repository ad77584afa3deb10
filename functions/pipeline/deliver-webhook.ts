import { deliveriesApp } from '../../lib/apps/deliveries.ts';
import { keyedBase } from '../../lib/apps/keyed-base.ts';
import { DeliveryMessage } from '../../lib/deployment/messages.ts';
import { consumeQueue } from '../../lib/queue/consume.ts';
import { openSender } from '../../lib/webhooks/sender.ts';

export const handler = consumeQueue(
  DeliveryMessage,
  async (message, { deliveries, allowedReceivers }) => deliveries.attempt(message, openSender(allowedReceivers)),
  () => deliveriesApp(keyedBase()),
);
