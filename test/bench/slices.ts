/** How many a second there were in each of so many equal slices of a time, told by when each was done (all in ms). */
export function ratesOf(doneAt: readonly number[], ms: number, slices: number): number[] {
  const counts = Array.from({ length: slices }, () => 0);
  for (const at of doneAt) {
    const slice = Math.floor((at * slices) / ms);
    // What was under way at the end was not all done by as many as before.
    if (slice < slices) counts[slice] = (counts[slice] ?? 0) + 1;
  }
  return counts.map((count) => (count * slices * 1000) / ms);
}
