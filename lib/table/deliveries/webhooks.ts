import { ApiError, notFound } from '../../contract/errors.ts';
import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { Webhook } from '../../contract/webhooks.ts';
import type { TableContext } from '../client.ts';
import type { RecordResponse } from '../idempotency.ts';
import { keys } from '../keys.ts';
import { getEach, getItem, queryItems } from '../reads.ts';
import { transact } from '../transact.ts';
import type { Item, Write } from '../write.ts';

/** The maximum number of webhooks of an organization. */
export const webhooksLimit = 100;

/** The receiver of a webhook: its URL, its encrypted secret, and whether it is slow. */
export type Target = {
  url: string;
  /** Whether the receiver is slow. */
  slow: boolean;
  /** The expiries of the leases on slow attempts, by the numbers of the leases; ISO 8601. */
  slowLeases: Readonly<Record<number, string>>;
  /** Absent for a webhook without a secret. */
  encryptedSecret?: string;
};

const slowLease = /^slowLease(\d+)$/;

function slowLeasesOf(item: Item): Target['slowLeases'] {
  const leases = Object.entries(item).map(([name, until]) => [slowLease.exec(name)?.[1], until]);
  return Object.fromEntries(leases.filter(([number]) => number !== undefined));
}

/** Returns the target of a webhook from its item and the item of its secret; `undefined` for a deleted webhook. */
export function targetFrom(webhook: Item | undefined, secret: Item | undefined): Target | undefined {
  // The items of one batch may be read at different times: a signed webhook without its secret is being deleted.
  if (!webhook || (webhook.signed && !secret)) return undefined;
  return {
    url: webhook.url as string,
    slow: webhook.slow === true,
    slowLeases: slowLeasesOf(webhook),
    ...(secret && { encryptedSecret: secret.sealed as string }),
  };
}

function webhookFrom({ pk: _, sk, signed: __, slow: ___, ...others }: Item): Webhook {
  const rest = Object.fromEntries(Object.entries(others).filter(([name]) => !slowLease.test(name)));
  return { ...rest, id: `wh_${sk}`, createdAt: timestamp(timeOf(sk as string)) } as Webhook;
}

/** Returns a webhook, strongly consistent; `undefined` if it does not exist. */
export async function readWebhook(
  { table }: TableContext,
  organization: Organization,
  id: string,
): Promise<Webhook | undefined> {
  const item = await getItem(table, keys.webhook(organization, ulidOf(id)));
  return item && webhookFrom(item);
}

/** Returns the webhooks of an organization, newest first. */
export async function readWebhooks({ table }: TableContext, organization: Organization): Promise<Webhook[]> {
  const items = await Array.fromAsync(queryItems(table, { pk: keys.webhooks(organization) }));
  return items.map(webhookFrom);
}

/** Returns the target of a webhook; `undefined` for a deleted webhook. */
export async function readTarget(
  { table }: TableContext,
  organization: Organization,
  id: string,
): Promise<Target | undefined> {
  const wanted = [keys.webhook(organization, ulidOf(id)), keys.webhookSecret(organization, ulidOf(id))];
  const [webhook, secret] = await getEach(table, wanted);
  return targetFrom(webhook, secret);
}

/**
 * Puts a new webhook, its subscriptions, its encrypted secret and the idempotency record, or nothing.
 *
 * @throws `ApiError` `limit_reached`
 */
export async function insertWebhook(
  { table }: TableContext,
  organization: Organization,
  webhook: Webhook,
  encryptedSecret: string | undefined,
  recordResponse: RecordResponse,
): Promise<void> {
  const { id, createdAt: _, ...rest } = webhook;
  const ulid = ulidOf(id);
  await transact(table, [
    { Put: { Item: { ...keys.webhook(organization, ulid), ...rest, ...(encryptedSecret && { signed: true }) } } },
    ...(encryptedSecret
      ? [{ Put: { Item: { ...keys.webhookSecret(organization, ulid), sealed: encryptedSecret } } }]
      : []),
    ...webhook.events.map((event) => ({ Put: { Item: keys.subscription(organization, event, ulid) } })),
    countOneMore(organization),
    ...(recordResponse ? [recordResponse(webhook)] : []),
  ]);
}

/**
 * Deletes a webhook, its secret and its subscriptions.
 *
 * @throws `ApiError` `not_found`
 */
export async function removeWebhook(
  { table }: TableContext,
  organization: Organization,
  { id, events }: Webhook,
): Promise<void> {
  const ulid = ulidOf(id);
  await transact(table, [
    {
      Delete: { Key: keys.webhook(organization, ulid), ConditionExpression: 'attribute_exists(pk)' },
      onConditionFailed: () => notFound('webhook'),
    },
    { Delete: { Key: keys.webhookSecret(organization, ulid) } },
    ...events.map((event) => ({ Delete: { Key: keys.subscription(organization, event, ulid) } })),
    countOneLess(organization),
  ]);
}

/** Counts a new webhook. The count is an item, so that of two concurrent registrations only one can reach the limit. */
function countOneMore(organization: Organization): Write {
  return {
    Update: {
      Key: keys.webhookCount(organization),
      UpdateExpression: 'ADD #count :one',
      ConditionExpression: 'attribute_not_exists(#count) OR #count < :limit',
      ExpressionAttributeNames: { '#count': 'count' },
      ExpressionAttributeValues: { ':one': 1, ':limit': webhooksLimit },
    },
    onConditionFailed: () =>
      new ApiError('limit_reached', `An organization can have ${webhooksLimit} webhooks; delete one it does not need.`),
  };
}

function countOneLess(organization: Organization): Write {
  return {
    Update: {
      Key: keys.webhookCount(organization),
      UpdateExpression: 'ADD #count :less',
      ExpressionAttributeNames: { '#count': 'count' },
      ExpressionAttributeValues: { ':less': -1 },
    },
  };
}
