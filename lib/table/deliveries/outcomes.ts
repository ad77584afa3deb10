import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { EventName } from '../../contract/webhooks/events.ts';
import type { TableContext } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { readRange } from '../access/reads.ts';
import { everything } from '../lists/listing.ts';
import { attemptFacet, timeLetters } from './attempt-items.ts';

/** What the outcome of an attempt needs of its row. */
const outcomeFields = ['deliveryId', 'attempt', 'event', 'scheduleStart', 'deliveredAt', 'error', 'test'] as const;

/** The outcome of an attempt in the history. */
export type AttemptOutcome = {
  /** The place in the log: the facet and the time. */
  sk: string;
  deliveryId: string;
  /** The number of the attempt. */
  attempt: number;
  event: EventName;
  /** The number of the attempt with which its retry schedule began, in a recovery; absent for 1. */
  scheduleStart?: number;
  /** The end of the attempt; ISO 8601. */
  deliveredAt: string;
  /** Absent for a success. */
  error?: string;
  test?: boolean;
};

/** The number of outcomes in the first request, and in each further one. */
const [firstPage, furtherPage] = [100, 1_000];

/** Returns the outcomes of the newest attempts to a webhook, newest first, with one strongly consistent read. */
export async function readNewestOutcomes(
  { table }: TableContext,
  organization: Organization,
  webhookId: string,
): Promise<AttemptOutcome[]> {
  const { rows: pk } = keys.attemptScope(organization, ulidOf(webhookId));
  // The rows of versions before the attempt log have another facet, which sorts first.
  const range = { pk, from: `${everything}#`, to: `${attemptFacet}#~`, limit: firstPage, only: outcomeFields };
  return (await readRange(table, range)) as AttemptOutcome[];
}

/**
 * Yields the outcomes of the attempts to a webhook from a time on, newest first, strongly consistent, and at most `most`.
 * Reads no further page before it is needed.
 *
 * @param from Unix time, in ms
 * @param first how many outcomes the first request reads
 */
export async function* readOutcomesBack(
  { table }: TableContext,
  organization: Organization,
  webhookId: string,
  { from, most, first = firstPage }: { from: number; most: number; first?: number },
): AsyncGenerator<AttemptOutcome> {
  const { rows: pk } = keys.attemptScope(organization, ulidOf(webhookId));
  let last: string | undefined;
  for (let remaining = most; remaining > 0; ) {
    const limit = Math.min(remaining, last === undefined ? first : furtherPage);
    const to = last ?? `${attemptFacet}#~`;
    const range = { pk, from: `${attemptFacet}#${timeLetters(from)}`, to, limit, only: outcomeFields };
    const rows = (await readRange(table, range)) as AttemptOutcome[];
    // A page begins with the last row of the page before.
    yield* rows.filter(({ sk }) => sk !== last);
    if (rows.length < limit) return;
    last = rows.at(-1)?.sk;
    remaining -= rows.length;
  }
}

/** Returns whether an outcome lies in the log before a time (Unix time, in ms). */
export function isBefore({ sk }: AttemptOutcome, time: number): boolean {
  return sk < `${attemptFacet}#${timeLetters(time)}`;
}
