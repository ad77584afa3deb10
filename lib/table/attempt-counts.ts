import { timeOf, timestamp, ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { tableSchema } from '../deployment/table-schema.ts';
import { attemptFacet, timeLetters } from './attempt-items.ts';
import type { Table } from './client.ts';
import { dayAfter, firstKeptDay, historyExpiry } from './history-days.ts';
import { keys } from './keys.ts';
import { everything } from './listing.ts';
import { countItems, getItem, queryItems } from './reads.ts';
import { Conflict, ignoreConflict, transact } from './transact.ts';
import type { Item, Write } from './write.ts';

/**
 * The number of a webhook's attempts, exact and without a write for each: up to some moment they are counted and the
 * numbers of each day are kept, and those after it are counted from their rows at each read. The moment is moved on now
 * and then, but never closer to the present than `closedAfterMs`: before it, nothing is written any more.
 */
export const closedAfterMs = 2 * 60_000;

/** What is kept: the number of each UTC day, by its name, and up to which moment they are, as the letters of a ULID. */
type Closed = { through: string; days: Days };

/** A number for each UTC day, such as `2026-11-22`. */
type Days = Record<string, number>;

/** The attempts of a webhook in the last 90 days. */
export type AttemptCounts = {
  /** The number of attempts of each closed day. */
  days: Days;
  /** The first day that is not closed. */
  openDay: string;
  /** The number of attempts since the start of that day. */
  open: number;
};

/** Whether it is a delivery's turn to have the attempts of its webhook counted: one of 256, at random by its id. */
export function isTurnToCount(deliveryId: string): boolean {
  return /[0G][0G]$/.test(deliveryId);
}

/** Opens the numbers of attempts. */
export function openAttemptCounts(table: Table) {
  return {
    /** Counts a webhook's attempts of the last 90 days, strongly consistent. */
    async read(organization: Organization, webhookId: string, now: number): Promise<AttemptCounts> {
      const first = firstKeptDay(now);
      const { closed, before } = await readCounters(organization, webhookId, first);
      const from = fromOf(closed, first);
      const openDay = dayOf(from);
      const days = addedUp(closed?.days ?? {}, before);
      const kept = Object.entries(days).filter(([day]) => day >= first);
      const open = kept.filter(([day]) => day >= openDay).reduce((sum, [, number]) => sum + number, 0);
      return {
        days: Object.fromEntries(kept.filter(([day]) => day < openDay)),
        openDay,
        open: open + (await countRows(organization, webhookId, from)),
      };
    },

    /** Counts a webhook's attempts up to `closedAfterMs` ago, and keeps their numbers. Of several at once one does. */
    async close(organization: Organization, webhookId: string, now: number): Promise<void> {
      const first = firstKeptDay(now);
      const item = await getItem(table, keys.closedAttempts(organization, ulidOf(webhookId)));
      const closed = item && closedFrom(item);
      const from = [fromOf(closed, first), registeredBy(webhookId)].sort().at(-1) as string;
      const to = timeLetters(now - closedAfterMs);
      if (from >= to) return;
      const counted: Record<string, number> = {};
      for (let [start, day] = [from, dayOf(from)]; start < to; ) {
        const next = dayAfter(day);
        const end = lettersOf(next) < to ? lettersOf(next) : to;
        const number = await countRows(organization, webhookId, start, end);
        if (number > 0) counted[day] = number;
        [start, day] = [end, next];
      }
      const old = Object.keys(closed?.days ?? {}).filter((day) => day < first);
      await transact(table, [closeWrite(organization, webhookId, { from: closed?.through, to, counted, old })]).catch(
        ignoreConflict,
      );
    },
  };

  /** What is kept, and the counters of versions before the attempt log, which counted in shards. */
  async function readCounters(organization: Organization, webhookId: string, first: string) {
    const pk = keys.attemptScope(organization, ulidOf(webhookId)).counters;
    let closed: Closed | undefined;
    let before: Days = {};
    for await (const item of queryItems(table, { pk, from: first })) {
      const { sk, through, [everything]: number = 0 } = item as { sk: string; through?: string; [everything]?: number };
      if (through) closed = closedFrom(item);
      else before = addedUp(before, { [sk.slice(0, first.length)]: number });
    }
    return { closed, before };
  }

  /** The number of rows from a moment on, up to another that is not included; both as the letters of a ULID. */
  function countRows(organization: Organization, webhookId: string, from: string, to = '~'): Promise<number> {
    const pk = keys.attemptScope(organization, ulidOf(webhookId)).rows;
    return countItems(table, { pk, from: `${attemptFacet}#${from}`, to: `${attemptFacet}#${to}` });
  }
}

export type AttemptCounter = ReturnType<typeof openAttemptCounts>;

function closedFrom({ pk: _, sk: __, through, [tableSchema.expiry]: ___, ...days }: Item): Closed {
  return { through: through as string, days: days as Days };
}

/** How much the clocks of two functions differ at most, in milliseconds. */
const clocksDifferMs = 60_000;

/** A moment before which a webhook has no attempts: its registration, by whichever clock. A young one has few days to count. */
const registeredBy = (webhookId: string) => timeLetters(timeOf(ulidOf(webhookId)) - clocksDifferMs);

/** From where on attempts are counted by their rows. */
function fromOf(closed: Closed | undefined, first: string): string {
  return closed && closed.through > lettersOf(first) ? closed.through : lettersOf(first);
}

function addedUp(a: Days, b: Days): Days {
  const days = { ...a };
  for (const [day, number] of Object.entries(b)) days[day] = (days[day] ?? 0) + number;
  return days;
}

const lettersOf = (day: string) => timeLetters(Date.parse(day));
const dayOf = (letters: string) => timestamp(timeOf(letters)).slice(0, 10);

/**
 * Moves the closed part on from where it was read, or nothing: the numbers are added in the same write. It expires when
 * the last of its days leaves the history, so that nothing is left of a webhook that was deleted.
 */
function closeWrite(
  organization: Organization,
  webhookId: string,
  { from, to, counted, old }: { from: string | undefined; to: string; counted: Record<string, number>; old: string[] },
): Write {
  const days = Object.keys(counted);
  const add = days.length > 0 ? ` ADD ${days.map((_, at) => `#day${at} :number${at}`).join(', ')}` : '';
  const remove = old.length > 0 ? ` REMOVE ${old.map((_, at) => `#old${at}`).join(', ')}` : '';
  return {
    Update: {
      Key: keys.closedAttempts(organization, ulidOf(webhookId)),
      UpdateExpression: `SET through = :to, #expiry = :expiry${remove}${add}`,
      ConditionExpression: from === undefined ? 'attribute_not_exists(pk)' : 'through = :from',
      ExpressionAttributeNames: {
        '#expiry': tableSchema.expiry,
        ...Object.fromEntries(days.map((day, at) => [`#day${at}`, day])),
        ...Object.fromEntries(old.map((day, at) => [`#old${at}`, day])),
      },
      ExpressionAttributeValues: {
        ':to': to,
        ':expiry': historyExpiry(timeOf(to)),
        ...(from !== undefined && { ':from': from }),
        ...Object.fromEntries(days.map((day, at) => [`:number${at}`, counted[day]])),
      },
    },
    onConditionFailed: () => new Conflict(),
  };
}
