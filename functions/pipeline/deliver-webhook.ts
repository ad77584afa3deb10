import { DeliveryOrOrder } from '../../lib/names/messages.ts';
import { withStartCheck } from '../../lib/names/start-check.ts';
import { carryOutTaskOrder } from '../../lib/tasks/task-orders.ts';
import type { Delivered } from '../../lib/webhooks/attempts/make-attempt.ts';
import { checkDecryption } from '../../lib/webhooks/check-secrets.ts';
import { deliverWebhook } from '../../lib/webhooks/deliveries/deliver-webhook.ts';
import { carryOut } from '../../lib/webhooks/orders/carry-out.ts';
import { consumeQueue } from '../../lib/workers/consume.ts';

export const handler = withStartCheck(
  consumeQueue(DeliveryOrOrder, async (message, context): Promise<Delivered> => {
    if (!('order' in message)) return deliverWebhook(context, message);
    if ('taskId' in message) await carryOutTaskOrder(context, message);
    else await carryOut(context, message);
    return {};
  }),
  checkDecryption,
);
