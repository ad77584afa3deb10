import type { Organization } from '../../../lib/contract/organization.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { type Attempt, attemptIdOf } from '../../../lib/table/deliveries/attempt-items.ts';
import { placeOf } from '../../../lib/table/deliveries/attempt-log.ts';

/** The default webhook of messages and attempts. */
export const webhookId = 'wh_01K00000000000000000000000';

/** Returns the message of the first attempt of a delivery. */
export function newMessage(
  organization: Organization,
  { dueAt, ...fields }: Partial<DeliveryMessage> & Pick<DeliveryMessage, 'deliveryId' | 'dueAt'>,
): DeliveryMessage {
  return { organization, webhookId, eventId: 'ev_01K00000000000000000000000', attempt: 1, dueAt, ...fields };
}

/** Returns the attempt of a message: failed if `error` is given, successful otherwise. */
export function attemptFor(
  message: DeliveryMessage,
  { place = placeOf(message), retry, error }: Partial<Pick<Attempt, 'place' | 'retry'>> & { error?: string } = {},
): Attempt {
  const { deliveryId, attempt, eventId, requestId } = message;
  const record = {
    id: attemptIdOf(place),
    deliveryId,
    attempt,
    event: 'task.created',
    httpStatus: error ? 500 : 204,
    durationMs: 5,
    deliveredAt: place.at,
    redelivery: attempt > 1,
    ...(error && { error }),
  } as const;
  return { place, record, eventId, requestId, retry };
}
