import { type QueueContext, secondsUntil, sendMessages } from '../../aws/queue.ts';
import type { Organization } from '../../contract/organization.ts';
import type { Order } from '../../names/messages.ts';
import { requestFields } from '../../table/access/current-request.ts';

/**
 * Sends an order to the queue of first attempts.
 *
 * @param notBefore when it may be received, at the earliest (Unix time, in ms); at once if absent
 */
export async function sendOrder(
  context: QueueContext & { clock: () => number },
  { organization, webhookId }: { organization: Organization; webhookId: string },
  order: Order['order'],
  notBefore?: number,
): Promise<void> {
  const message: Order = { organization, webhookId, order, ...requestFields() };
  const delaySeconds = notBefore === undefined ? 0 : secondsUntil(notBefore, context.clock());
  await sendMessages(context, 'deliveries', [{ message, delaySeconds }]);
}
