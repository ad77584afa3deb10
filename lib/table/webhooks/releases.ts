import { timestamp, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { TableContext } from '../access/client.ts';
import { keys, organizationOf } from '../access/keys.ts';
import { Conflict, ignoreConflict, transact } from '../access/transact.ts';
import type { Item, Write } from '../access/write.ts';
import { deliveryPartition } from '../lists/delivery-partitions.ts';
import { dueEntry } from '../lists/due.ts';

/** The kind of releases: the stream has them, so that the attempts are sent at once. */
export const releaseKind = 'release';

/** An order to list and send the waiting attempts of a webhook, or to remove the waiting attempts of a deleted webhook. */
export type Release = { organization: Organization; webhookId: string; version: number };

/** Returns the write of a release, which is due now. It replaces an earlier one of the webhook. */
export function releaseWrite({ organization, webhookId, version }: Release, now: number): Write {
  const ulid = ulidOf(webhookId);
  const entry = dueEntry(deliveryPartition(ulid), timestamp(now));
  return { Put: { Item: { ...keys.parkedRelease(organization, ulid), kind: releaseKind, version, ...entry } } };
}

/** Returns the release of an item; `undefined` for other items. */
export function releaseFrom({ pk, sk, version }: Item): Release | undefined {
  const organization = organizationOf(pk as string);
  const webhookId = `wh_${sk}`;
  if (keys.parkedRelease(organization, sk as string).pk !== pk) return undefined;
  return { organization, webhookId, version: version as number };
}

/** Removes a release, unless a later one has replaced it. */
export async function removeRelease(
  { table }: TableContext,
  { organization, webhookId, version }: Release,
): Promise<void> {
  const write: Write = {
    Delete: {
      Key: keys.parkedRelease(organization, ulidOf(webhookId)),
      ConditionExpression: '#version = :version',
      ExpressionAttributeNames: { '#version': 'version' },
      ExpressionAttributeValues: { ':version': version },
    },
    onConditionFailed: () => new Conflict(),
  };
  await transact(table, [write]).catch(ignoreConflict);
}
