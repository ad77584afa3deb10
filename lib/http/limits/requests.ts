import type { Log } from '../../context/log.ts';
import type { RequestCount, RequestCounts } from '../../context/request-counts.ts';
import { setBounded } from '../../contract/bounded-map.ts';
import { ApiError } from '../../contract/errors.ts';
import type { Organization } from '../../contract/organization.ts';
import { limitHeaders } from '../../settings/limits.ts';
import type { Table } from '../../table/access/client.ts';
import { runWithoutRequest } from '../../table/access/current-request.ts';
import { keys } from '../../table/access/keys.ts';
import { takeFromBucket } from '../../table/organizations/request-bucket.ts';
import { followClock, isReportDue, newBucket, type Taken, takeRequest } from './bucket.ts';
import { waitForReport } from './report-wait.ts';

/** The policies that count requests: of all requests, and of requests that call receivers or models. */
const policies = {
  requests: { bucketOf: keys.requestBucket, counted: 'requests a minute' },
  'calls-out': { bucketOf: keys.callsOutBucket, counted: 'requests a minute that call receivers or models' },
} as const;

/** The name of such a policy. */
type Policy = keyof typeof policies;

/** The part of the context that counting requests needs. */
export type LimitContext = {
  table: Table;
  /** Returns the Unix time in milliseconds. */
  clock: () => number;
  /** Milliseconds since a fixed moment. It cannot be set. */
  monotonic: () => number;
  log: Pick<Log, 'warn'>;
  requestCounts: RequestCounts;
};

/** A counted request that has not ended. */
export type Admission = {
  /** The headers of its response that describe the limit. */
  headers: Readonly<Record<string, string>>;
  /** The error of a request that exceeds the limit; absent for an admitted request. */
  error?: ApiError;
  /** By the monotonic clock. */
  startedAt: number;
  counted: RequestCount;
};

/** The maximum number of counts in a container. Above it, the oldest count is evicted. */
const maxCounts = 1_000;

/** How long a container sends no report after a failed one. */
const pauseAfterFailureMs = 10_000;

/**
 * Counts a request of an organization, and starts a report to the shared bucket if one is due. The request is carried
 * out without waiting for the report. If a report fails, the container continues with its own count.
 */
export function admitRequest(
  context: LimitContext,
  organization: Organization,
  perMinute: number,
  policy: Policy = 'requests',
): Admission {
  const [now, startedAt] = [context.clock(), context.monotonic()];
  const counted = countedFor(context, policy === 'requests' ? organization : `${organization} ${policy}`, now);
  followClock(counted, now);
  const taken = takeRequest(counted, perMinute, now);
  if (!counted.report && startedAt >= counted.nextReportAt && isReportDue(counted, perMinute))
    counted.report = runWithoutRequest(() => report(context, organization, { counted, perMinute, policy }));
  const headers = headersOf(taken, perMinute, policy);
  return { headers, ...(!taken.admitted && { error: errorOf(taken, perMinute, policy) }), startedAt, counted };
}

/** Ends a counted request: adds its time to the count, and waits for a report in progress. */
export async function finishRequest({ monotonic }: LimitContext, { counted, startedAt }: Admission): Promise<void> {
  counted.unreportedMs += monotonic() - startedAt;
  if (counted.report) await waitForReport(counted.report);
}

function countedFor({ requestCounts }: LimitContext, counter: string, now: number): RequestCount {
  const known = requestCounts.get(counter);
  if (known) return known;
  const counted: RequestCount = { ...newBucket(now), nextReportAt: 0 };
  setBounded(requestCounts, counter, counted, maxCounts);
  return counted;
}

async function report(
  { table, clock, monotonic, log }: LimitContext,
  organization: Organization,
  { counted, perMinute, policy }: { counted: RequestCount; perMinute: number; policy: Policy },
): Promise<void> {
  const { unreported, unreportedMs, sharedFullAt } = counted;
  counted.unreported = 0;
  counted.unreportedMs = 0;
  const intervalMs = 60_000 / perMinute;
  try {
    const takesMs = Math.round(unreported * intervalMs);
    const now = clock();
    const fullAt = await takeFromBucket(table, policies[policy].bucketOf(organization), {
      fullAt: sharedFullAt,
      takesMs,
      now,
    });
    // The clock can have been set back during the report.
    counted.sharedFullAt = fullAt - Math.max(0, now - clock());
    // Requests that were admitted during this report are part of the next one.
    counted.fullAt = counted.sharedFullAt + counted.unreported * intervalMs;
  } catch (error) {
    counted.unreported += unreported;
    counted.unreportedMs += unreportedMs;
    counted.nextReportAt = monotonic() + pauseAfterFailureMs;
    log.warn('request report failed; this container counts alone', {
      organization,
      policy,
      error: error as Error,
    });
  } finally {
    counted.report = undefined;
  }
}

/** Returns whole seconds for a header, at least 1. */
const secondsOf = (milliseconds: number) => Math.max(1, Math.ceil(milliseconds / 1000));

function headersOf({ waitMs, remaining }: Taken, perMinute: number, policy: Policy): Record<string, string> {
  const seconds = secondsOf(remaining > 0 ? (remaining * 60_000) / perMinute : waitMs);
  return limitHeaders(policy, { perMinute, remaining, seconds });
}

function errorOf({ waitMs }: Taken, perMinute: number, policy: Policy): ApiError {
  return new ApiError(
    'rate_limited',
    `The organization has made more than ${perMinute} ${policies[policy].counted}; retry after the time in Retry-After.`,
    [],
    { 'Retry-After': String(secondsOf(waitMs)) },
  );
}
