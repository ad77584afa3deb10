import { lookup } from 'node:dns';
import type { EventName } from '../../../lib/contract/webhooks/events.ts';
import { deliveryBody } from '../../../lib/sender/delivery-body.ts';
import { loopbackAddresses, loopbackName, type Resolve } from '../../../lib/sender/lookup.ts';
import { type Outcome, sendToReceiver } from '../../../lib/sender/sender.ts';
import { deliveryHeaders } from '../../../lib/sender/signature.ts';
import { startTimer } from '../../../lib/sender/timer.ts';

/** A receiver on the machine of a developer: its URL, and the secret that signs deliveries to it. */
export type LocalReceiver = { forwardTo: URL; secret?: string | undefined };

/**
 * Asks the system, which also knows the names in /etc/hosts. The sender of the service asks only DNS servers. The names of
 * this machine also have the loopback addresses of both families: many receivers listen on one, and /etc/hosts may have
 * the other.
 */
const resolve: Resolve = (hostname, _, callback) =>
  lookup(hostname, { all: true }, (error, found = []) => {
    if (!loopbackName.test(hostname)) return callback(error, found);
    const others = loopbackAddresses.filter((one) => !found.some(({ address }) => address === one.address));
    callback(null, [...found, ...others]);
  });

/**
 * Posts an event to a receiver once, as the service does: with the same headers, body, signatures and deadline. Without a
 * secret it is not signed. Any address is allowed, because the user of the command chooses the URL.
 *
 * @returns the outcome; the function never throws
 */
export function forwardEvent(
  { forwardTo: { href: url }, secret }: LocalReceiver,
  delivery: { deliveryId: string; event: EventName; data: unknown },
): Promise<Outcome> {
  const { event, deliveryId } = delivery;
  const sentAt = Date.now();
  const body = deliveryBody(delivery, sentAt);
  const headers = deliveryHeaders({ event, deliveryId, sentAt, body }, secret);
  return sendToReceiver({ allowedReceivers: () => true, startTimer, resolve }, { url, headers, body });
}
