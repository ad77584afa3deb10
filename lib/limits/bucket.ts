/**
 * The token bucket of an organization's requests, as one container sees it. The bucket is shared by all containers and
 * stands in the table; a container counts by itself and reports now and then, so that hardly any request costs one more
 * to the table. Times are milliseconds since 1970.
 */
export type Bucket = {
  /** When the shared bucket is full again, by the last report alone. */
  sharedFullAt: number;
  /** The same, with what this container has let through since. */
  fullAt: number;
  /** How many requests were let through and are not reported. Fades, so it need not be whole. */
  unreported: number;
  /** How long these requests took in all, milliseconds. */
  unreportedMs: number;
  /** When the two numbers above were last faded. */
  fadedAt: number;
};

/** Whether a request is let through, and what its response says of the limit. */
export type Taken = {
  admitted: boolean;
  /** How many more would be let through at once. */
  remaining: number;
  /** How long until one more is let through, milliseconds; 0: at once. */
  waitMs: number;
};

/** The bucket of an organization that this container has not served yet: full, as far as it knows. */
export function newBucket(now: number): Bucket {
  return { sharedFullAt: 0, fullAt: 0, unreported: 0, unreportedMs: 0, fadedAt: now };
}

/** How many requests a full bucket lets through at once: a tenth of a minute's, and no fewer than ten. */
export function burstOf(perMinute: number): number {
  return Math.min(perMinute, Math.max(10, Math.ceil(perMinute / 10)));
}

/**
 * After how many requests a container reports: what the limit allows in a second, but at least 20. Of limits below 400
 * a minute it is a twentieth of them, so that many containers together do not let through many times a low limit.
 */
export function reportAfter(perMinute: number): number {
  return Math.ceil(Math.max(perMinute / 60, Math.min(perMinute / 20, 20)));
}

/** A container that works so long for an organization reports, however few its requests: slow ones take its place. */
const reportAfterMs = 2_000;

/** A container forgets this share of the limit: an organization that uses next to nothing of it is not counted. */
const fadingShare = 1 / 1_000;

/** Takes a request out of the bucket, if there is one in it. */
export function takeRequest(bucket: Bucket, perMinute: number, now: number): Taken {
  const intervalMs = 60_000 / perMinute;
  const takenAt = Math.max(bucket.fullAt, now) + intervalMs;
  const latest = now + burstOf(perMinute) * intervalMs;
  if (takenAt > latest) return { admitted: false, remaining: 0, waitMs: takenAt - latest };
  fade(bucket, perMinute, now);
  bucket.fullAt = takenAt;
  bucket.unreported += 1;
  return {
    admitted: true,
    remaining: Math.floor((latest - takenAt) / intervalMs),
    waitMs: Math.max(0, takenAt + intervalMs - latest),
  };
}

/** Whether a container has let through so much that the other containers must know of it. */
export function isReportDue({ unreported, unreportedMs }: Bucket, perMinute: number): boolean {
  return unreported >= reportAfter(perMinute) || unreportedMs >= reportAfterMs;
}

function fade(bucket: Bucket, perMinute: number, now: number): void {
  const passedMs = Math.max(0, now - bucket.fadedAt) * fadingShare;
  bucket.unreported = Math.max(0, bucket.unreported - (passedMs * perMinute) / 60_000);
  bucket.unreportedMs = Math.max(0, bucket.unreportedMs - passedMs);
  bucket.fadedAt = now;
}
