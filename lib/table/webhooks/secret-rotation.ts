import { notFound } from '../../contract/errors.ts';
import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { TableContext } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { getEach } from '../access/reads.ts';
import { Conflict, retryOnConflict, transact } from '../access/transact.ts';
import type { Write } from '../access/write.ts';
import type { RecordResponse } from '../idempotency.ts';
import { type StoredWebhook, storedFrom } from './webhooks.ts';

/** A rotation: the new encrypted secret, its time, and the end of the overlap; absent for no overlap. Times are ISO 8601. */
export type Rotation = { encryptedSecret: string; changedAt: string; previousUntil: string | undefined };

/**
 * Replaces the secret of a webhook, or adds its first one, and puts the idempotency record, or nothing. The replaced
 * secret becomes the previous one; the one before it is deleted.
 *
 * @param respond returns the data of the response; `replaced` says whether the webhook had a secret
 * @returns the data of the response
 * @throws `ApiError` `not_found`
 */
export async function replaceSecret<Data>(
  context: TableContext,
  organization: Organization,
  id: string,
  rotation: Rotation,
  respond: (webhook: StoredWebhook, replaced: boolean) => Data,
  recordResponse: RecordResponse,
): Promise<Data> {
  const { table } = context;
  const ulid = ulidOf(id);
  const wanted = [keys.webhook(organization, ulid), keys.webhookSecret(organization, ulid)];
  return retryOnConflict(table, async () => {
    const [webhook, secret] = await getEach(table, wanted);
    if (!webhook) throw notFound('webhook');
    const { changedAt } = rotation;
    const data = respond({ ...storedFrom(webhook), signed: true, secretChangedAt: changedAt }, secret !== undefined);
    const mark = markWrite(organization, ulid, changedAt);
    const writes = secret
      ? [rotationWrite(organization, ulid, rotation), ...(webhook.signed ? [mark] : [])]
      : firstSecretWrites(organization, ulid, rotation);
    await transact(table, [...writes, ...(recordResponse?.(data) ?? [])]);
    // Not in that transaction: a batch that reads the secret before it and the webhook after it would take the webhook for a
    // deleted one (`targetFrom`). If this write fails, deliveries are signed all the same, and the next rotation marks the webhook.
    if (!webhook.signed) await transact(table, [mark]).catch(() => {});
    return data;
  });
}

/** Moves the secret to the previous one, in one write: every read has both secrets or only the old one. */
function rotationWrite(organization: Organization, ulid: string, { encryptedSecret, previousUntil }: Rotation): Write {
  const overlap = previousUntil !== undefined;
  return {
    Update: {
      Key: keys.webhookSecret(organization, ulid),
      UpdateExpression: overlap
        ? 'SET #previous = #sealed, #until = :until, #sealed = :sealed'
        : 'SET #sealed = :sealed REMOVE #previous, #until',
      ConditionExpression: 'attribute_exists(#sealed)',
      ExpressionAttributeNames: { '#sealed': 'sealed', '#previous': 'previousSecret', '#until': 'previousUntil' },
      ExpressionAttributeValues: { ':sealed': encryptedSecret, ...(overlap && { ':until': previousUntil }) },
    },
    // The secret is deleted with its webhook only.
    onConditionFailed: () => new Conflict(),
  };
}

function firstSecretWrites(organization: Organization, ulid: string, { encryptedSecret }: Rotation): Write[] {
  return [
    {
      Put: {
        Item: { ...keys.webhookSecret(organization, ulid), sealed: encryptedSecret },
        ConditionExpression: 'attribute_not_exists(pk)',
      },
      onConditionFailed: () => new Conflict(),
    },
    {
      ConditionCheck: { Key: keys.webhook(organization, ulid), ConditionExpression: 'attribute_exists(pk)' },
      onConditionFailed: () => new Conflict(),
    },
  ];
}

/** Returns the write that marks a webhook as signed, with the time of its secret. */
function markWrite(organization: Organization, ulid: string, changedAt: string): Write {
  return {
    Update: {
      Key: keys.webhook(organization, ulid),
      UpdateExpression: 'SET #signed = :true, #changedAt = :changedAt',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeNames: { '#signed': 'signed', '#changedAt': 'secretChangedAt' },
      ExpressionAttributeValues: { ':true': true, ':changedAt': changedAt },
    },
    onConditionFailed: () => new Conflict(),
  };
}
