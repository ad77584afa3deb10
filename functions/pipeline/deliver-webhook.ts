import { DeliveryMessage } from '../../lib/contract/messages.ts';
import { keyedApp } from '../../lib/keyed-app.ts';
import { consumeQueue } from '../../lib/queue/consume.ts';
import { meter } from '../../lib/queue/meter.ts';
import { openSender } from '../../lib/webhooks/sender.ts';

export const handler = consumeQueue(
  DeliveryMessage,
  async (message, { deliveries, allowed }) => {
    meter(await deliveries.attempt(message, openSender(allowed)));
  },
  keyedApp,
);
