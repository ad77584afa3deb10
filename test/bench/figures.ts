import { percentile } from './percentile.ts';

/** A figure as the page shows it, with so many decimals. */
export function figure(value: number, decimals = 0): string {
  return value.toLocaleString('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** The figure of several runs: their median, and the least and the greatest behind it. */
export function spread(values: readonly number[], decimals = 0): string {
  const median = figure(percentile(values, 0.5), decimals);
  if (values.length === 1) return median;
  return `${median} (${figure(Math.min(...values), decimals)}–${figure(Math.max(...values), decimals)})`;
}
