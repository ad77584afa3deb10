import { deliveriesApp } from '../../lib/apps/deliveries.ts';
import { keyedBase } from '../../lib/apps/keyed-base.ts';
import { DeliveryMessage } from '../../lib/deployment/messages.ts';
import { consumeQueue } from '../../lib/queue/consume.ts';
import { allowedReceiversOf } from '../../lib/webhooks/receivers.ts';
import { openSender } from '../../lib/webhooks/sender.ts';

export const handler = consumeQueue(
  DeliveryMessage,
  async (message, context) => context.deliveries.attempt(message, openSender(allowedReceiversOf(context))),
  () => deliveriesApp(keyedBase()),
);
