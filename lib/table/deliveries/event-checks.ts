import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { tableSchema } from '../../names/table-schema.ts';
import { type BatchingContext, putInBatch } from '../access/batchers.ts';
import type { TableContext } from '../access/client.ts';
import { clocksDifferMs } from '../access/clocks.ts';
import { keys, organizationOf } from '../access/keys.ts';
import { Conflict, ignoreConflict, transact } from '../access/transact.ts';
import type { Item, Write } from '../access/write.ts';
import { dueEntry } from '../lists/due.ts';
import { historyExpiry } from '../lists/history-days.ts';
import { timeLetters } from './attempt-items.ts';

/**
 * A first attempt is only a message until its row is written. A check makes up for messages that are lost: it is an item
 * for each five minutes of an organization's event log, and is due after them. The sweeper then compares these events with
 * the attempt log, and deletes the check when no first attempt of them is open.
 */

/** How much of the event log a check covers, in milliseconds. */
export const checkedMs = 5 * 60_000;

/** How long after its part of the log, or after a later event of that part, a check is due, in milliseconds. */
const checkAfterMs = 2 * 60_000;

/** The partition of the `due` index that lists checks. Earlier versions do not read it. */
export const eventCheckPartition = 'checks';

/** A check, as the sweeper has taken it. */
export type EventCheck = {
  organization: Organization;
  /** The start of its part of the event log (Unix time, in ms). */
  from: number;
  /** The ULID of the last event that was compared; absent at the start. */
  position?: string;
  /** The ULID after which the first event with an open attempt was found, or an empty text for the start. */
  openAfter?: string;
  /** Its entry in the index; ISO 8601. */
  dueAt: string;
};

/** The part of a context that planning checks needs. */
export type EventCheckContext = BatchingContext & {
  clock: () => number;
  /** When the checks are due that this process has planned (Unix time, in ms), by organization and start. */
  plannedChecks: Map<string, number>;
};

/** Plans the check of an event with first attempts, unless this process has planned the check already. */
export async function planEventCheck(
  context: EventCheckContext,
  organization: Organization,
  eventId: string,
): Promise<void> {
  const { clock, plannedChecks } = context;
  const now = clock();
  const from = Math.floor(timeOf(ulidOf(eventId)) / checkedMs) * checkedMs;
  const name = `${organization} ${from}`;
  // A sweeper whose clock is ahead may have made the check before it seems due here.
  if ((plannedChecks.get(name) ?? 0) > now + clocksDifferMs) return;
  const dueAt = Math.max(from + checkedMs, now) + checkAfterMs;
  await putInBatch(context, {
    ...keys.eventCheck(organization, timeLetters(from)),
    ...dueEntry(eventCheckPartition, timestamp(dueAt)),
    [tableSchema.expiry]: historyExpiry(from),
  });
  for (const [other, otherDueAt] of plannedChecks) {
    if (otherDueAt >= now) break;
    plannedChecks.delete(other);
  }
  plannedChecks.set(name, dueAt);
}

/** Returns the check of an item. */
export function eventCheckFrom({ pk, sk, due, expiresAt, ...rest }: Item): EventCheck {
  return { organization: organizationOf(pk as string), from: timeOf(sk as string), ...rest } as EventCheck;
}

/**
 * Stores how far a check is, unless another sweep has taken it, or a later event has started it again.
 *
 * @param dueAt when the sweeper takes it again; ISO 8601
 */
export async function storeEventCheck(
  { table }: TableContext,
  check: EventCheck,
  { position, openAfter }: Pick<EventCheck, 'position' | 'openAfter'>,
  dueAt: string,
): Promise<void> {
  const write: Write = {
    Put: {
      Item: {
        ...keyOf(check),
        ...dueEntry(eventCheckPartition, dueAt),
        ...(position !== undefined && { position }),
        ...(openAfter !== undefined && { openAfter }),
        [tableSchema.expiry]: historyExpiry(check.from),
      },
      ...isTaken(check),
    },
    onConditionFailed: () => new Conflict(),
  };
  await transact(table, [write]).catch(ignoreConflict);
}

/** Deletes a check, unless another sweep has taken it, or a later event has started it again. */
export async function removeEventCheck({ table }: TableContext, check: EventCheck): Promise<void> {
  const write: Write = {
    Delete: { Key: keyOf(check), ...isTaken(check) },
    onConditionFailed: () => new Conflict(),
  };
  await transact(table, [write]).catch(ignoreConflict);
}

function keyOf({ organization, from }: EventCheck) {
  return keys.eventCheck(organization, timeLetters(from));
}

function isTaken({ dueAt }: EventCheck) {
  return {
    ConditionExpression: '#entry = :entry',
    ExpressionAttributeNames: { '#entry': tableSchema.dueIndex.sortKey },
    ExpressionAttributeValues: { ':entry': dueAt },
  };
}
