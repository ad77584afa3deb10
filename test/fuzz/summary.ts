/** The number of responses of each operation, by status. */
export type Tally = Record<string, Record<string, number>>;

/** Returns the tally as a table in plain text, a line for each operation. */
export function summaryOf(tally: Tally): string {
  const rows = Object.entries(tally)
    .sort(([one], [other]) => one.localeCompare(other))
    .map(([operation, statuses]) => {
      const seen = Object.entries(statuses).map(([status, count]) => `${status} × ${count}`);
      return { operation, cases: sumOf(Object.values(statuses)), seen: seen.join(', ') };
    });
  const width = Math.max(...rows.map(({ operation }) => operation.length));
  const line = (operation: string, cases: string | number, seen: string) =>
    `${operation.padEnd(width)}  ${String(cases).padStart(6)}  ${seen}`.trimEnd();
  return [
    line('Operation', 'Cases', 'Statuses'),
    ...rows.map(({ operation, cases, seen }) => line(operation, cases, seen)),
    line(`${rows.length} operations`, sumOf(rows.map(({ cases }) => cases)), ''),
  ].join('\n');
}

const sumOf = (counts: number[]) => counts.reduce((sum, count) => sum + count, 0);
