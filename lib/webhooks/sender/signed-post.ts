import type { PublicEvent } from '../../contract/events.ts';
import { timestamp } from '../../contract/ids.ts';
import type { Target } from '../../table/deliveries/webhooks.ts';
import { decryptSecret, type SecretOwner, type SecretsContext } from '../secrets.ts';
import type { Post } from './sender.ts';
import { deliveryHeaders } from './signature.ts';

/** An event and the id of its delivery to one webhook. */
type Delivery = { deliveryId: string; event: PublicEvent['event']; data: unknown };

/**
 * Returns the request of one attempt, signed with the secret of the webhook. Header and body have the time of the attempt:
 * a receiver that rejects old timestamps must not reject every retry.
 *
 * @throws the errors of `decryptSecret`, so that nothing is sent unsigned
 */
export async function signedPost(
  context: SecretsContext,
  { deliveryId, event, data }: Delivery,
  { url, encryptedSecret }: Target,
  owner: SecretOwner,
): Promise<Post> {
  const secret = encryptedSecret && (await decryptSecret(context, encryptedSecret, owner));
  const sentAt = context.clock();
  const body = JSON.stringify({ event, deliveryId, timestamp: timestamp(sentAt), data });
  return { url, headers: deliveryHeaders({ event, deliveryId, sentAt, body }, secret), body };
}
