import { attemptsApp } from '../../lib/apps/attempts.ts';
import { keyedBase } from '../../lib/apps/keyed-base.ts';
import { DeliveryMessage } from '../../lib/deployment/messages.ts';
import { consumeQueue } from '../../lib/queue/consume.ts';
import { openSender } from '../../lib/webhooks/sender.ts';

export const handler = consumeQueue(
  DeliveryMessage,
  async (message, { deliveries, allowed }) => deliveries.attempt(message, openSender(allowed)),
  () => attemptsApp(keyedBase()),
);
