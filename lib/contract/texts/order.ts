/**
 * Orders texts by their UTF-16 code units, as ids with a ULID, and times of ISO 8601, are ordered by time.
 *
 * @returns what `sort` wants of a comparison
 */
export const ascending = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Orders texts the other way round: of ids and times the newest first. */
export const descending = (a: string, b: string): number => ascending(b, a);
