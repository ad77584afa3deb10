import { isDeepStrictEqual } from 'node:util';
import { ApiError, notFound } from '../../contract/errors.ts';
import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { WebhookEvent } from '../../contract/webhooks/events.ts';
import type { Webhook } from '../../contract/webhooks/webhooks.ts';
import type { TableContext } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { changedFields, updateOf } from '../access/patch.ts';
import { getEach, getItem, readRange } from '../access/reads.ts';
import { Conflict, transact } from '../access/transact.ts';
import type { Item, Write } from '../access/write.ts';
import type { RecordResponse } from '../idempotency.ts';
import { type Failing, failingOf } from './failing.ts';
import { announcement, type OwnEventsHolder, ownEventsOf } from './own-events.ts';
import { isPaused, openPauseOf, type Pausable } from './pauses.ts';
import { releaseWrite } from './releases.ts';
import { changedFilters, currentFilter, type TaskFilterChange } from './task-filters.ts';

/** The maximum number of webhooks of an organization. */
export const webhooksLimit = 100;

/** The receiver of a webhook: its URL, its encrypted secret, its pauses, whether it is slow, and what its events have said. */
export type Target = Pausable &
  OwnEventsHolder & {
    /** Absent before a delivery has failed permanently. */
    failing?: Failing;
    url: string;
    /** Whether the receiver is slow. */
    slow: boolean;
    /** The maximum number of attempts that begin in any one second; absent if there is none. */
    maxPerSecond?: number;
    /** The end of the permits of attempts that are given out (Unix time, in microseconds), which may be over. */
    permittedUntil?: number;
    /** The end of the times that attempts have booked (Unix time, in ms), which may be over. */
    bookedUntil?: number;
    /** When an attempt has booked last (Unix time, in ms). Absent if none has in this pace. */
    latestBookingAt?: number;
    /** The version of the webhook that has set its pace: by a change of the maximum, or a pause. Absent before the first. */
    paceVersion?: number;
    /** The expiries of the leases on slow attempts, by the numbers of the leases; ISO 8601. */
    slowLeases: Readonly<Record<number, string>>;
    /** Absent for a webhook without a secret. */
    encryptedSecret?: string;
    /** The secret before the latest rotation, and the end of its overlap (ISO 8601), which may be over. */
    previousSecret?: { encrypted: string; until: string };
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
    ...(webhook.maxPerSecond !== undefined && { maxPerSecond: webhook.maxPerSecond as number }),
    ...(webhook.permittedUntil !== undefined && { permittedUntil: webhook.permittedUntil as number }),
    ...(webhook.bookedUntil !== undefined && { bookedUntil: webhook.bookedUntil as number }),
    ...(webhook.latestBookingAt !== undefined && { latestBookingAt: webhook.latestBookingAt as number }),
    ...paceVersionOf(webhook),
    slowLeases: slowLeasesOf(webhook),
    ...pausesOf(webhook),
    ...failingOf(webhook),
    ...ownEventsOf(webhook),
    ...(secret && { encryptedSecret: secret.sealed as string }),
    ...(secret?.previousSecret !== undefined && {
      previousSecret: { encrypted: secret.previousSecret as string, until: secret.previousUntil as string },
    }),
  };
}

/** Returns the pauses of a webhook from its item, which has none before the first pause. */
const pausesOf = ({ pauses }: Item) => (pauses === undefined ? {} : { pauses: pauses as Pausable['pauses'] });

/** Returns the version of a webhook's pace from its item, which has none before the first change. */
const paceVersionOf = ({ paceVersion }: Item) =>
  paceVersion === undefined ? {} : { paceVersion: paceVersion as number };

/** Returns the filters of a webhook from its item, which has none before the first filter. */
const taskFiltersOf = ({ taskFilters }: Item) =>
  taskFilters === undefined ? {} : { taskFilters: taskFilters as readonly TaskFilterChange[] };

/**
 * A webhook with its version, the version of its pace, its pauses, whether it is slow, what is known of its failures, what its
 * events have said, and its filters over time if it has had one.
 */
export type StoredWebhook = Webhook &
  Pausable &
  OwnEventsHolder & {
    version: number;
    paceVersion?: number;
    slow: boolean;
    failing?: Failing;
    taskFilters?: readonly TaskFilterChange[];
  };

/** The attributes of a webhook's item that reads do not return. */
const internal = [
  'pk',
  'sk',
  'slow',
  'version',
  'pauses',
  'failing',
  'ownEvents',
  'taskFilters',
  'permittedUntil',
  'permittedBefore',
  'bookedUntil',
  'latestBookingAt',
  'paceVersion',
];

/** The fields of a webhook that its item has in another form: in its key, its pauses and its filters over time. */
const storedElsewhere = ['id', 'createdAt', 'active', 'disabledReason', 'disabledAt', 'taskFilter'] as const;

function webhookFrom(item: Item): Webhook {
  const { sk } = item;
  const shown = Object.entries(item).filter(([name]) => !internal.includes(name) && !slowLease.test(name));
  const pause = openPauseOf(pausesOf(item));
  const taskFilter = currentFilter(taskFiltersOf(item).taskFilters);
  return {
    ...Object.fromEntries(shown),
    signed: item.signed === true,
    active: pause === undefined,
    ...(pause?.reason && { disabledReason: pause.reason, disabledAt: pause.from }),
    ...(taskFilter && { taskFilter }),
    id: `wh_${sk}`,
    createdAt: timestamp(timeOf(sk as string)),
  } as Webhook;
}

/** Returns a webhook from its item, with the attributes that reads do not return. It has no version until it is changed. */
export function storedFrom(item: Item): StoredWebhook {
  const version = (item.version as number | undefined) ?? 1;
  const slow = item.slow === true;
  const history = { ...pausesOf(item), ...failingOf(item), ...ownEventsOf(item), ...taskFiltersOf(item) };
  return { ...webhookFrom(item), ...paceVersionOf(item), ...history, version, slow };
}

/** Returns a webhook, strongly consistent; `undefined` if it does not exist. */
export async function readWebhook(
  { table }: TableContext,
  organization: Organization,
  id: string,
): Promise<StoredWebhook | undefined> {
  const item = await getItem(table, keys.webhook(organization, ulidOf(id)));
  return item && storedFrom(item);
}

/** Returns the webhooks of an organization, newest first. */
export async function readWebhooks({ table }: TableContext, organization: Organization): Promise<StoredWebhook[]> {
  const items = await readRange(table, { pk: keys.webhooks(organization) });
  return items.map(storedFrom);
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
 * @param since the time of the log from which the webhook receives events (Unix time, in ms); the time of its registration
 *   if absent
 * @throws `ApiError` `limit_reached`
 */
export async function insertWebhook(
  { table }: TableContext,
  organization: Organization,
  webhook: Omit<Webhook, 'signed' | 'secretChangedAt'>,
  encryptedSecret: string | undefined,
  recordResponse: RecordResponse,
  since: number = Date.parse(webhook.createdAt),
): Promise<void> {
  const { id, createdAt, taskFilter, ...rest } = webhook;
  const ulid = ulidOf(id);
  // The rows of a webhook have no time of their own, unless the clock was set back before its registration.
  const isLater = since > timeOf(ulid);
  const from = isLater ? timestamp(since) : createdAt;
  const filters = taskFilter && { taskFilters: [{ ...taskFilter, from }] };
  const signed = encryptedSecret !== undefined && { signed: true, secretChangedAt: createdAt };
  await transact(table, [
    { Put: { Item: { ...keys.webhook(organization, ulid), ...rest, ...filters, ...signed } } },
    ...(encryptedSecret
      ? [{ Put: { Item: { ...keys.webhookSecret(organization, ulid), sealed: encryptedSecret } } }]
      : []),
    ...webhook.events.map((event) => ({
      Put: { Item: { ...keys.subscription(organization, event, ulid), ...(isLater && { since: from }), ...filters } },
    })),
    countOneMore(organization),
    ...(recordResponse?.(webhook) ?? []),
  ]);
}

/** What a change of a webhook has besides its fields. */
type WebhookChange = {
  /** The time of the log from which the webhook receives the added events, and has a new filter; ISO 8601. */
  since: string;
  /** When the end of a pause releases the parked attempts; Unix time, in ms. */
  now: number;
  /** The event about the webhook that the change announces; absent if it announces none. */
  event?: WebhookEvent | undefined;
  /** Further writes of the same transaction. */
  further?: readonly Write[];
};

/**
 * Changes the fields of a webhook that callers can change, and its subscriptions, or nothing. The other attributes stay:
 * attempts and rotations write them at the same time. A pause and a change of the maximum rate end all booked times. The
 * end of a pause, and the change of a maximum, release the attempts that wait as items.
 *
 * @throws `Conflict` if the webhook was changed or deleted since it was read
 */
export async function changeWebhook(
  { table }: TableContext,
  organization: Organization,
  before: StoredWebhook,
  after: StoredWebhook,
  { since, now, event, further = [] }: WebhookChange,
): Promise<void> {
  const ulid = ulidOf(after.id);
  const { events, maxPerSecond, version } = after;
  const refiltered = !isDeepStrictEqual(after.taskFilter, before.taskFilter);
  const taskFilters = refiltered
    ? changedFilters(before.taskFilters, after.taskFilter, { createdAt: before.createdAt, now: since })
    : before.taskFilters;
  const added = events.filter((event) => !before.events.includes(event));
  const kept = events.filter((event) => before.events.includes(event));
  const removed = before.events.filter((event) => !events.includes(event));
  const isSwitched = isPaused(before) !== isPaused(after);
  const isPaceChanged = maxPerSecond !== before.maxPerSecond;
  const isReleased = !isPaused(after) && (isSwitched || (isPaceChanged && before.maxPerSecond !== undefined));
  const announced = event && announcement(organization, before, event);
  const attributes = {
    ...changedFields(before, after, storedElsewhere),
    ...(refiltered && { taskFilters }),
    ...((isSwitched || isPaceChanged) && {
      paceVersion: version,
      bookedUntil: undefined,
      latestBookingAt: undefined,
    }),
    ...(announced && { ownEvents: announced.after }),
  };
  await transact(table, [
    changeWrite(organization, before, attributes, announced?.condition),
    ...added.map((event) => ({
      Put: { Item: { ...keys.subscription(organization, event, ulid), since, ...(taskFilters && { taskFilters }) } },
    })),
    ...(refiltered ? kept : []).map((event) => ({
      Update: {
        Key: keys.subscription(organization, event, ulid),
        UpdateExpression: 'SET #filters = :filters',
        ExpressionAttributeNames: { '#filters': 'taskFilters' },
        ExpressionAttributeValues: { ':filters': taskFilters },
      },
    })),
    ...removed.map((event) => ({ Delete: { Key: keys.subscription(organization, event, ulid) } })),
    ...(isReleased ? [releaseWrite({ organization, webhookId: after.id, version }, now)] : []),
    ...(announced ? [announced.write] : []),
    ...further,
  ]);
}

/**
 * Returns the write that sets attributes of a webhook, and removes the attributes that are undefined.
 *
 * @param further a further condition
 */
function changeWrite(
  organization: Organization,
  before: StoredWebhook,
  attributes: Record<string, unknown>,
  further?: ReturnType<typeof announcement>['condition'],
): Write {
  const conditions = [unchanged(before), ...(further ? [further] : [])];
  const update = updateOf(attributes);
  const parts = [...conditions, update];
  return {
    Update: {
      Key: keys.webhook(organization, ulidOf(before.id)),
      ...update,
      ConditionExpression: conditions.map(({ ConditionExpression }) => ConditionExpression).join(' AND '),
      ExpressionAttributeNames: Object.assign({}, ...parts.map((part) => part.ExpressionAttributeNames)),
      ExpressionAttributeValues: Object.assign({}, ...parts.map((part) => part.ExpressionAttributeValues)),
    },
    onConditionFailed: () => new Conflict(),
  };
}

/** Returns the condition that a webhook exists and still has the version that was read. */
function unchanged({ version }: StoredWebhook) {
  return {
    // No version is removed, so a webhook without one was never changed.
    ConditionExpression: 'attribute_exists(pk) AND (#version = :version OR attribute_not_exists(#version))',
    ExpressionAttributeNames: { '#version': 'version' },
    ExpressionAttributeValues: { ':version': version },
  };
}

/**
 * Deletes a webhook, its secret and its subscriptions. The sweeper removes its parked attempts.
 *
 * @param now Unix time, in ms
 * @throws `ApiError` `not_found`; `Conflict` if the webhook was changed since it was read: it may have other subscriptions
 */
export async function removeWebhook(
  { table }: TableContext,
  organization: Organization,
  webhook: StoredWebhook,
  now: number,
): Promise<void> {
  const { id, events, pauses, version } = webhook;
  const ulid = ulidOf(id);
  await transact(table, [
    {
      Delete: { Key: keys.webhook(organization, ulid), ...unchanged(webhook) },
      onConditionFailed: (found) => (found ? new Conflict() : notFound('webhook')),
    },
    { Delete: { Key: keys.webhookSecret(organization, ulid) } },
    ...events.map((event) => ({ Delete: { Key: keys.subscription(organization, event, ulid) } })),
    countOneLess(organization),
    ...(pauses ? [releaseWrite({ organization, webhookId: id, version: version + 1 }, now)] : []),
  ]);
}

/** Counts a new webhook. The count is an item, so only one of two concurrent registrations can reach the limit. */
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
