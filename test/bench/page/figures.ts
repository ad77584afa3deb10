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
