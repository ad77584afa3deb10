import type { Page } from '../../contract/endpoint.ts';
import { ApiError } from '../../contract/errors.ts';
import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { grouped } from '../../contract/shapes.ts';
import { descending } from '../../contract/texts/order.ts';
import { type AttemptFilter, type DeliveryRecord, maxFilteredAttempts } from '../../contract/webhooks/webhooks.ts';
import type { TableContext } from '../access/client.ts';
import { clocksDifferMs } from '../access/clocks.ts';
import { keys } from '../access/keys.ts';
import { type Filter, filterItems } from '../access/reads.ts';
import type { Item } from '../access/write.ts';
import { firstKeptDay } from '../lists/history-days.ts';
import { everything } from '../lists/listing.ts';
import { closedAfterMs } from './attempt-counts.ts';
import { attemptFacet, recordFrom, timeLetters } from './attempt-items.ts';

/**
 * The log orders an attempt by the time when it was due or began, and filters compare its end, which callers see. The end is
 * at most this time later, because no row has a place in the closed part of the log.
 */
const endsWithinMs = closedAfterMs;

/**
 * Returns a page of a webhook's attempts of the last 90 days that match the filters, in the order of `readAttemptPage`, and
 * their exact number. The log has no counts of them, so each request reads all attempts of the time range: at most
 * `maxFilteredAttempts`, the newest ones if `since` is absent.
 *
 * @throws `ApiError` `range_too_large` if `since` is given and the range has more attempts
 */
export async function readFilteredAttempts(
  { table, clock }: TableContext & { clock: () => number },
  organization: Organization,
  webhookId: string,
  { limit, offset, ...filter }: { limit: number; offset: number } & AttemptFilter,
): Promise<Page<DeliveryRecord>> {
  const { since, until } = filter;
  const now = clock();
  const firstKept = Date.parse(firstKeptDay(now));
  const from = since === undefined ? firstKept : Math.max(since - endsWithinMs, firstKept);
  const to = until === undefined ? undefined : until + clocksDifferMs;
  if (to !== undefined && to < from) return { items: [], total: 0 };
  const { rows: pk } = keys.attemptScope(organization, ulidOf(webhookId));
  const found: { order: string; row: Item }[] = [];
  let remaining = maxFilteredAttempts;
  // One after the other, so that the limit holds for both. Attempts of versions before the attempt log are the older ones.
  for (const facet of [attemptFacet, everything]) {
    const range = {
      pk,
      from: `${facet}#${timeLetters(from)}`,
      to: `${facet}#${to === undefined ? '' : timeLetters(to)}~`,
      // With `since`, one more attempt shows that there are too many.
      limit: remaining + (since === undefined ? 0 : 1),
    };
    const { items, read, lastRead } = await filterItems(table, range, filterOf(filter));
    if (read > remaining) throw rangeTooLarge(timeOf((lastRead as string).slice(facet.length + 1)), until ?? now);
    found.push(...items.map((row) => ({ order: (row.sk as string).slice(facet.length + 1), row })));
    remaining -= read;
    if (remaining === 0 && since === undefined) break;
  }
  const newestFirst = found.sort((a, b) => descending(a.order, b.order));
  const page = newestFirst.slice(offset, offset + limit);
  return { items: page.map(({ row }) => recordFrom(row)), total: newestFirst.length };
}

/** Returns the condition on the rows of attempts that match a filter with at least one field. */
function filterOf({ status, event, since, until }: AttemptFilter): Filter {
  const conditions = [
    ...(status ? [`attribute_${status === 'failed' ? 'exists' : 'not_exists'}(#error)`] : []),
    ...(event ? ['#event = :event'] : []),
    ...(since === undefined ? [] : ['#end >= :since']),
    ...(until === undefined ? [] : ['#end <= :until']),
  ];
  return {
    expression: conditions.join(' AND '),
    names: {
      ...(status && { '#error': 'error' }),
      ...(event && { '#event': 'event' }),
      ...((since !== undefined || until !== undefined) && { '#end': 'deliveredAt' }),
    },
    values: {
      ...(event && { ':event': event }),
      ...(since !== undefined && { ':since': timestamp(since) }),
      ...(until !== undefined && { ':until': timestamp(until) }),
    },
  };
}

/**
 * Returns the error for a range with too many attempts. It names the earliest `since` that works, unless that is after the
 * end of the range: the list also reads attempts that ended up to `endsWithinMs` before `since`.
 *
 * @param tooOld the place in the log of the newest attempt that cannot be read (Unix time, in ms)
 * @param until the end of the range (Unix time, in ms)
 */
function rangeTooLarge(tooOld: number, until: number): ApiError {
  const most = grouped(maxFilteredAttempts);
  const since = tooOld + endsWithinMs + 1;
  if (since > until)
    return new ApiError(
      'range_too_large',
      `This range has more than ${most} attempts within three minutes; leave since out to get the newest of them.`,
    );
  const message = `since must be ${timestamp(since)} or later`;
  return new ApiError(
    'range_too_large',
    `This range has more than ${most} attempts; choose a later since, see details.`,
    [{ path: 'since', code: 'limit', message }],
  );
}
