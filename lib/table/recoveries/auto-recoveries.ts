import { timestamp, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { tableSchema } from '../../names/table-schema.ts';
import type { TableContext } from '../access/client.ts';
import { type Key, keys, organizationOf, webhookOf } from '../access/keys.ts';
import { getItem } from '../access/reads.ts';
import { Conflict, ignoreConflict, transact } from '../access/transact.ts';
import type { Item, Write } from '../access/write.ts';
import { postponeDue } from '../lists/due.ts';
import { historyExpiry } from '../lists/history-days.ts';

/**
 * The recovery that the service is to begin for a webhook with `autoRecover`, as an item of its own. There is one for a webhook:
 * while it waits for the end of another recovery, or of the pause between two, a further one extends it.
 */
export type AutoRecovery = {
  organization: Organization;
  webhookId: string;
  /** The time of the first failed attempt, or of the beginning of the pause, from which on all is recovered; Unix time, in ms. */
  missedFrom: number;
  /** The time up to which events are recovered; Unix time, in ms. */
  until: number;
  /** When the sweeper looks for it; ISO 8601. */
  dueAt: string;
};

/** The kind of these items: the stream has new ones. */
export const autoRecoveryKind = 'auto-recovery';

/** The partition of the `due` index that lists them. Earlier versions do not read it. */
export const autoRecoveryPartition = 'auto-recovery';

/** Returns the write of a recovery that the service is to begin, which is due now, or extends one that waits. */
export function autoRecoveryWrite(
  organization: Organization,
  webhookId: string,
  { missedFrom, until }: Pick<AutoRecovery, 'missedFrom' | 'until'>,
  now: number,
): Write {
  const { partitionKey, sortKey } = tableSchema.dueIndex;
  return {
    Update: {
      Key: keys.autoRecovery(organization, ulidOf(webhookId)),
      UpdateExpression:
        'SET #kind = :kind, #until = :until, #due = :due, #expiry = :expiry, missedFrom = if_not_exists(missedFrom, :from), #dueAt = if_not_exists(#dueAt, :now)',
      ExpressionAttributeNames: {
        '#kind': 'kind',
        '#until': 'until',
        '#due': partitionKey,
        '#dueAt': sortKey,
        '#expiry': tableSchema.expiry,
      },
      ExpressionAttributeValues: {
        ':kind': autoRecoveryKind,
        ':until': until,
        ':due': autoRecoveryPartition,
        ':expiry': historyExpiry(now),
        ':from': missedFrom,
        ':now': timestamp(now),
      },
    },
  };
}

/** Returns the recovery of an item. */
export function autoRecoveryFrom({ pk, missedFrom, until, [tableSchema.dueIndex.sortKey]: dueAt }: Item): AutoRecovery {
  return {
    organization: organizationOf(pk as string),
    webhookId: `wh_${webhookOf(pk as string)}`,
    missedFrom: missedFrom as number,
    until: until as number,
    dueAt: dueAt as string,
  };
}

/** Returns the recovery that the service is to begin for a webhook, strongly consistent; `undefined` if there is none. */
export async function readAutoRecovery(
  { table }: TableContext,
  organization: Organization,
  webhookId: string,
): Promise<AutoRecovery | undefined> {
  const item = await getItem(table, keys.autoRecovery(organization, ulidOf(webhookId)));
  return item && autoRecoveryFrom(item);
}

/** Moves the entry of such a recovery to a later moment (ISO 8601); returns `false` if it has changed since it was read. */
export async function postponeAutoRecovery(context: TableContext, auto: AutoRecovery, later: string): Promise<boolean> {
  return (await postponeDue(context, { key: keyOf(auto), dueAt: auto.dueAt }, later)) !== undefined;
}

/** Returns the write that deletes such a recovery, unless it was extended since it was read. */
export function deleteAutoRecoveryWrite(auto: AutoRecovery): Write {
  return {
    Delete: {
      Key: keyOf(auto),
      ConditionExpression: '#until = :until',
      ExpressionAttributeNames: { '#until': 'until' },
      ExpressionAttributeValues: { ':until': auto.until },
    },
    onConditionFailed: () => new Conflict(),
  };
}

/** Deletes such a recovery, unless it was extended since it was read. */
export async function deleteAutoRecovery({ table }: TableContext, auto: AutoRecovery): Promise<void> {
  await transact(table, [deleteAutoRecoveryWrite(auto)]).catch(ignoreConflict);
}

const keyOf = ({ organization, webhookId }: AutoRecovery): Key => keys.autoRecovery(organization, ulidOf(webhookId));
