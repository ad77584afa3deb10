import type { Page } from '../../contract/endpoint.ts';
import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { descending } from '../../contract/texts/order.ts';
import type { DeliveryRecord } from '../../contract/webhooks/webhooks.ts';
import type { TableContext } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { readRange } from '../access/reads.ts';
import { firstKeptDay, utcDays } from '../lists/history-days.ts';
import { everything, type PeriodCount, readPage } from '../lists/listing.ts';
import { readAttemptCounts } from './attempt-counts.ts';
import { attemptFacet, recordFrom } from './attempt-items.ts';

/** Sorts after every ULID. */
const last = '~';

/** Returns the end of a webhook's newest attempt of the last 90 days; ISO 8601. */
export async function readLastAttemptEnd(
  { table }: TableContext,
  organization: Organization,
  webhookId: string,
): Promise<string | undefined> {
  const { rows: pk } = keys.attemptScope(organization, ulidOf(webhookId));
  // The rows of versions before the attempt log have another facet, which sorts first.
  const range = { pk, from: `${everything}#`, to: `${attemptFacet}#${last}`, limit: 1 };
  const [newest] = await readRange(table, range);
  return newest?.deliveredAt as string | undefined;
}

/**
 * Returns a page of a webhook's attempts of the last 90 days, by the time when they were due, newest first, and their exact
 * number. Attempts of versions before the attempt log have another facet, and the order of their ends.
 */
export async function readAttemptPage(
  { table, clock }: TableContext & { clock: () => number },
  organization: Organization,
  webhookId: string,
  page: { limit: number; offset: number },
): Promise<Page<DeliveryRecord>> {
  const now = clock();
  const count = async (): Promise<PeriodCount[]> => {
    const { days, openDay, open } = await readAttemptCounts({ table }, organization, webhookId, now);
    const closed = Object.entries(days).map(([day, number]) => ({
      number,
      first: utcDays.first(day),
      last: utcDays.last(day),
    }));
    const newestFirst = closed.sort((a, b) => descending(a.first, b.first));
    return [{ number: open, first: utcDays.first(openDay), last }, ...newestFirst];
  };
  const { rows, total } = await readPage(table, {
    list: keys.attemptScope(organization, ulidOf(webhookId)),
    facets: [everything, attemptFacet],
    ...page,
    since: utcDays.first(firstKeptDay(now)),
    count,
  });
  return { items: rows.map(({ entry }) => recordFrom(entry)), total };
}
