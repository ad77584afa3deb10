import type { Logger } from '@aws-lambda-powertools/logger';
import { ApiError } from '../contract/errors.ts';
import type { Organization } from '../contract/organization.ts';
import { limitHeaders } from '../deployment/limits.ts';
import { runWithoutRequest } from '../request-context.ts';
import type { Table } from '../table/client.ts';
import { takeFromBucket } from '../table/request-bucket.ts';
import { type Bucket, isReportDue, newBucket, type Taken, takeRequest } from './bucket.ts';

/** The requests of one organization in one container. */
type Counted = Bucket & {
  /** The report that is under way; it never rejects. */
  report?: Promise<void> | undefined;
  /** No report is sent before this moment, because the last one failed. */
  reportFrom: number;
};

/** The organizations that a container has served lately. */
export type RequestCounts = Map<Organization, Counted>;

/** What counting requests needs. */
export type LimitContext = {
  table: Table;
  /** Milliseconds since 1970. */
  clock: () => number;
  log: Pick<Logger, 'warn'>;
  requestCounts: RequestCounts;
};

/** A request that was counted, until it ends. */
export type Admission = {
  /** What its response says of the limit. */
  headers: Readonly<Record<string, string>>;
  /** Why it is not carried out; absent for a request that is let through. */
  refusal?: ApiError;
  startedAt: number;
  counted: Counted;
};

/** The most organizations that a container counts for; beyond them the one that it has counted for longest is dropped. */
const organizationsAtMost = 1_000;

/** After a report that failed a container counts by itself for so long. */
const pauseAfterFailureMs = 10_000;

/** A response waits no longer for the report that its request began; it goes on with the container's next request. */
const reportWaitMs = 250;

/**
 * Counts a request of an organization, and begins a report to the other containers where one is due: beside the
 * request's own work, not before it. Where the table does not take the report, the container goes on by its own count.
 */
export function admitRequest(context: LimitContext, organization: Organization, perMinute: number): Admission {
  const now = context.clock();
  const counted = countedFor(context, organization, now);
  const taken = takeRequest(counted, perMinute, now);
  if (!counted.report && now >= counted.reportFrom && isReportDue(counted, perMinute))
    counted.report = runWithoutRequest(() => report(context, organization, counted, perMinute));
  const headers = headersOf(taken, perMinute);
  return { headers, ...(!taken.admitted && { refusal: errorOf(taken, perMinute) }), startedAt: now, counted };
}

/** Ends a counted request: notes how long it took, and waits for the report that is under way. */
export async function finishRequest({ clock }: LimitContext, { counted, startedAt }: Admission): Promise<void> {
  counted.unreportedMs += clock() - startedAt;
  if (!counted.report) return;
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, reportWaitMs);
  await Promise.race([counted.report, late.promise]);
  clearTimeout(timer);
}

function countedFor({ requestCounts }: LimitContext, organization: Organization, now: number): Counted {
  const known = requestCounts.get(organization);
  if (known) return known;
  const counted: Counted = { ...newBucket(now), reportFrom: 0 };
  requestCounts.set(organization, counted);
  if (requestCounts.size > organizationsAtMost) requestCounts.delete(requestCounts.keys().next().value as Organization);
  return counted;
}

async function report(
  { table, clock, log }: LimitContext,
  organization: Organization,
  counted: Counted,
  perMinute: number,
): Promise<void> {
  const { unreported, unreportedMs, sharedFullAt } = counted;
  counted.unreported = 0;
  counted.unreportedMs = 0;
  const intervalMs = 60_000 / perMinute;
  try {
    const takesMs = Math.round(unreported * intervalMs);
    counted.sharedFullAt = await takeFromBucket(table, organization, { fullAt: sharedFullAt, takesMs, now: clock() });
    // What was let through while the report was under way is in the next one.
    counted.fullAt = counted.sharedFullAt + counted.unreported * intervalMs;
  } catch (error) {
    counted.unreported += unreported;
    counted.unreportedMs += unreportedMs;
    counted.reportFrom = clock() + pauseAfterFailureMs;
    log.warn('requests are counted by this container alone', { organization, error: error as Error });
  } finally {
    counted.report = undefined;
  }
}

/** The seconds that a response names: whole ones, and at least one. */
const secondsOf = (milliseconds: number) => Math.max(1, Math.ceil(milliseconds / 1000));

function headersOf({ waitMs, remaining }: Taken, perMinute: number): Record<string, string> {
  const seconds = secondsOf(remaining > 0 ? (remaining * 60_000) / perMinute : waitMs);
  return limitHeaders('requests', { perMinute, remaining, seconds });
}

function errorOf({ waitMs }: Taken, perMinute: number): ApiError {
  const message = `The organization has made more than ${perMinute} requests a minute; retry after the time in Retry-After.`;
  return new ApiError('rate_limited', message, [], { 'Retry-After': String(secondsOf(waitMs)) });
}
