import { encryptSecret, type SecretsContext } from '../aws/secrets.ts';
import type { Context } from '../context/context.ts';
import { timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { SecretRotated, SecretRotation } from '../contract/webhooks/webhooks.ts';
import { readNewestOutcomes } from '../table/deliveries/outcomes.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import { replaceSecret } from '../table/webhooks/secret-rotation.ts';
import { withHealth } from './webhooks.ts';

/**
 * Replaces the secret of a webhook, or adds its first one. During the overlap, deliveries are also signed with the
 * replaced secret. A secret that an earlier rotation replaced ends at once.
 *
 * @throws `ApiError` `not_found`
 */
export async function rotateWebhookSecret(
  context: Pick<Context, 'table'> & SecretsContext,
  organization: Organization,
  { id, secret, overlapSeconds }: SecretRotation & { id: string },
  recordResponse: RecordResponse,
): Promise<SecretRotated> {
  const [encryptedSecret, newest] = await Promise.all([
    encryptSecret(context, secret, { organization, webhook: id }),
    readNewestOutcomes(context, organization, id),
  ]);
  const now = context.clock();
  const previousSecretEndsAt = timestamp(now + overlapSeconds * 1000);
  const previousUntil = overlapSeconds > 0 ? previousSecretEndsAt : undefined;
  return replaceSecret(
    context,
    organization,
    id,
    { encryptedSecret, changedAt: timestamp(now), previousUntil },
    (webhook, replaced) => ({ ...withHealth(webhook, newest), ...(replaced && { previousSecretEndsAt }) }),
    recordResponse,
  );
}
