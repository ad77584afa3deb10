/** A time range as URLs have it. `since` can be the name of a ready range, which ends at the time of each request. */
export type TimeRange = { since?: string | undefined; until?: string | undefined };

const hourMs = 3_600_000;

/** The ready ranges, shortest first. */
export const readyRanges = [
  { name: '1h', label: 'Last hour', lengthMs: hourMs },
  { name: '24h', label: 'Last 24 hours', lengthMs: 24 * hourMs },
  { name: '7d', label: 'Last 7 days', lengthMs: 7 * 24 * hourMs },
] as const;

/** Returns the times of a range, as the API takes them. */
export function timesOf({ since, until }: TimeRange, now: number): { since?: string; until?: string } {
  const ready = readyRanges.find(({ name }) => name === since);
  const start = ready ? new Date(now - ready.lengthMs).toISOString() : since;
  return { ...(start !== undefined && { since: start }), ...(until !== undefined && { until }) };
}

/** Returns a time as the value of a `datetime-local` input, in the zone of the viewer. */
export function toLocalInput(at: string | undefined): string {
  const time = at === undefined ? Number.NaN : Date.parse(at);
  const local = new Date(time - new Date(time).getTimezoneOffset() * 60_000);
  // The last times that exist have no date in zones east of UTC.
  return Number.isNaN(local.getTime()) ? '' : local.toISOString().slice(0, 16);
}

/** Returns the time that a `datetime-local` input has, or `undefined` if it is empty. */
export function fromLocalInput(value: string): string | undefined {
  return value === '' ? undefined : new Date(value).toISOString();
}
