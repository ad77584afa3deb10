import { DeliveryOrOrder } from '../../lib/deployment/messages.ts';
import { withStartCheck } from '../../lib/deployment/start-check.ts';
import { consumeQueue } from '../../lib/queue/consume.ts';
import { carryOutTaskOrder } from '../../lib/tasks/task-orders.ts';
import { checkDecryption } from '../../lib/webhooks/check-secrets.ts';
import { deliverWebhook } from '../../lib/webhooks/deliveries/deliver-webhook.ts';
import type { Delivered } from '../../lib/webhooks/deliveries/make-attempt.ts';
import { carryOut } from '../../lib/webhooks/orders/carry-out.ts';

export const handler = withStartCheck(
  consumeQueue(DeliveryOrOrder, async (message, context): Promise<Delivered> => {
    if (!('order' in message)) return deliverWebhook(context, message);
    if ('taskId' in message) await carryOutTaskOrder(context, message);
    else await carryOut(context, message);
    return {};
  }),
  checkDecryption,
);
