/**
 * The nearest-rank percentile: the least value that at least this share (over 0, up to 1) of all does not exceed.
 *
 * @throws Error for no values
 */
export function percentile(values: readonly number[], share: number): number {
  const value = values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1];
  if (value === undefined) throw new Error(`There is no percentile ${share} of ${values.length} values.`);
  return value;
}
