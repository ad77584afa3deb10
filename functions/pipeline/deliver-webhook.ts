import { DeliveryMessage } from '../../lib/deployment/messages.ts';
import { withStartCheck } from '../../lib/deployment/start-check.ts';
import { consumeQueue } from '../../lib/queue/consume.ts';
import { checkDecryption } from '../../lib/webhooks/check-secrets.ts';
import { deliverWebhook } from '../../lib/webhooks/deliveries/deliver-webhook.ts';

export const handler = withStartCheck(
  consumeQueue(DeliveryMessage, async (message, context) => deliverWebhook(context, message)),
  checkDecryption,
);
