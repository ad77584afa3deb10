import type { PublicEvent } from '../contract/events.ts';
import { timestamp } from '../contract/ids.ts';
import type { Target } from '../table/webhooks.ts';
import { decryptSecret, type SecretOwner, type SecretsContext } from './secrets.ts';
import type { Outcome, Sender } from './sender.ts';
import { deliveryHeaders } from './signature.ts';

/** What a receiver is sent: the event, under its delivery's id. */
type Told = { deliveryId: string; event: PublicEvent['event']; data: unknown };

/** What an attempt is posted by. */
type PostParts = { secrets: SecretsContext; clock: () => number; send: Sender };

/**
 * Posts one attempt to a webhook, signed for it: a receiver that refuses old timestamps must not refuse every retry, so
 * the header's and the body's are both the attempt's.
 *
 * @param owner what the webhook's secret is sealed for
 * @throws what `Secrets` throws; a secret that cannot be had is a fault of ours, and nothing is sent unsigned
 */
export async function post(
  { deliveryId, event, data }: Told,
  { url, encryptedSecret }: Target,
  owner: SecretOwner,
  { secrets, clock, send }: PostParts,
): Promise<Outcome> {
  const secret = encryptedSecret && (await decryptSecret(secrets, encryptedSecret, owner));
  const sentAt = clock();
  const body = JSON.stringify({ event, deliveryId, timestamp: timestamp(sentAt), data });
  return send({ url, headers: deliveryHeaders({ event, deliveryId, sentAt, body }, secret), body });
}
