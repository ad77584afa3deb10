/** Formats a figure with a number of decimals. */
export function figure(value: number, decimals = 0): string {
  return value.toLocaleString('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** Formats the figure of several runs: their median, and the least and the greatest in brackets. */
export function spread(values: readonly number[], decimals = 0): string {
  const median = figure(percentile(values, 0.5), decimals);
  if (values.length === 1) return median;
  return `${median} (${figure(Math.min(...values), decimals)}–${figure(Math.max(...values), decimals)})`;
}

/**
 * Returns the nearest-rank percentile: the least value that at least this share (over 0, up to 1) of all does not exceed.
 *
 * @throws Error for no values
 */
export function percentile(values: readonly number[], share: number): number {
  const value = values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1];
  if (value === undefined) throw new Error(`There is no percentile ${share} of ${values.length} values.`);
  return value;
}

/** Returns the rate a second in each of a number of equal slices of a time, by the times of completion (all in ms). */
export function ratesOf(doneAt: readonly number[], ms: number, slices: number): number[] {
  const counts = Array.from({ length: slices }, () => 0);
  for (const at of doneAt) {
    const slice = Math.floor((at * slices) / ms);
    // At the end fewer run at the same time than before: what is completed after the time does not count.
    if (slice < slices) counts[slice] = (counts[slice] ?? 0) + 1;
  }
  return counts.map((count) => (count * slices * 1000) / ms);
}
