import { decryptSecret, type SecretOwner, type SecretsContext } from '../../aws/secrets.ts';
import { type DeliveredEvent, deliveryBody } from '../../sender/delivery-body.ts';
import type { Post } from '../../sender/sender.ts';
import { deliveryHeaders } from '../../sender/signature.ts';
import type { Target } from '../../table/webhooks/webhooks.ts';

/** A signed request, and the time in its headers and its body (Unix time, in ms). */
export type SignedPost = Post & { sentAt: number };

/**
 * Returns the request of one attempt, signed with the secret of the webhook, and during the overlap of a rotation with
 * the previous secret too. Header and body have the time of the attempt: a receiver that rejects old timestamps must not
 * reject every retry.
 *
 * @throws the errors of `decryptSecret`, so that nothing is sent unsigned
 */
export async function signedPost(
  context: SecretsContext,
  delivery: DeliveredEvent,
  { url, encryptedSecret, previousSecret }: Target,
  owner: SecretOwner,
): Promise<SignedPost> {
  const inOverlap = previousSecret !== undefined && context.clock() < Date.parse(previousSecret.until);
  const [secret, previous] = await Promise.all(
    [encryptedSecret, inOverlap ? previousSecret.encrypted : undefined].map(
      (encrypted) => encrypted && decryptSecret(context, encrypted, owner),
    ),
  );
  const sentAt = context.clock();
  const body = deliveryBody(delivery, sentAt);
  return { url, headers: deliveryHeaders({ ...delivery, sentAt, body }, secret, previous), body, sentAt };
}
