import type { Bucket } from '../../context/request-counts.ts';

/** Whether a request is admitted, and the numbers for its response. */
export type Taken = {
  admitted: boolean;
  /** The number of further requests that would be admitted now. */
  remaining: number;
  /** The time until a further request is admitted, in milliseconds. */
  waitMs: number;
};

/** Creates the bucket of an organization that is new to this container. It is full until a report says otherwise. */
export function newBucket(now: number): Bucket {
  return { sharedFullAt: 0, fullAt: 0, unreported: 0, unreportedMs: 0, decayedAt: now, seenAt: now };
}

/**
 * Moves the times of a bucket back with the clock, if that was set back since the last request. So the bucket needs as long
 * as before.
 */
export function followClock(bucket: Bucket, now: number): void {
  const backMs = Math.max(0, bucket.seenAt - now);
  bucket.sharedFullAt -= backMs;
  bucket.fullAt -= backMs;
  bucket.decayedAt -= backMs;
  bucket.seenAt = now;
}

/** Returns the number of requests that a full bucket admits immediately: a tenth of the limit, but at least ten. */
export function burstOf(perMinute: number): number {
  return Math.min(perMinute, Math.max(10, Math.ceil(perMinute / 10)));
}

/**
 * Returns the number of requests after which a container reports: the requests that the limit allows in a second, but
 * at least 20. For a limit below 400 a minute it is a twentieth of the limit, so that many containers together do not
 * exceed a low limit many times.
 */
export function reportAfter(perMinute: number): number {
  return Math.ceil(Math.max(perMinute / 60, Math.min(perMinute / 20, 20)));
}

/** A container also reports after this total time of requests. Slow requests are few, but use as many containers. */
const reportAfterMs = 2_000;

/**
 * Unreported requests decay by this share of the limit, so that an organization with few requests is never reported.
 */
const decayRate = 1 / 1_000;

/** Takes a request from the bucket if it has one. */
export function takeRequest(bucket: Bucket, perMinute: number, now: number): Taken {
  const intervalMs = 60_000 / perMinute;
  const takenAt = Math.max(bucket.fullAt, now) + intervalMs;
  const latest = now + burstOf(perMinute) * intervalMs;
  if (takenAt > latest) return { admitted: false, remaining: 0, waitMs: takenAt - latest };
  decay(bucket, perMinute, now);
  bucket.fullAt = takenAt;
  bucket.unreported += 1;
  return {
    admitted: true,
    remaining: Math.floor((latest - takenAt) / intervalMs),
    waitMs: Math.max(0, takenAt + intervalMs - latest),
  };
}

/** Returns whether the container must report its requests to the shared bucket. */
export function isReportDue({ unreported, unreportedMs }: Bucket, perMinute: number): boolean {
  return unreported >= reportAfter(perMinute) || unreportedMs >= reportAfterMs;
}

function decay(bucket: Bucket, perMinute: number, now: number): void {
  const passedMs = Math.max(0, now - bucket.decayedAt) * decayRate;
  bucket.unreported = Math.max(0, bucket.unreported - (passedMs * perMinute) / 60_000);
  bucket.unreportedMs = Math.max(0, bucket.unreportedMs - passedMs);
  bucket.decayedAt = now;
}
