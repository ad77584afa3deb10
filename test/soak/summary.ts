import type { Outcome } from './soak.ts';

/** The most faults that are printed. */
const mostPrinted = 50;

/** Returns the result of a soak as text, a line for each figure. */
export function summaryOf({
  events,
  faults,
  starts,
  executions,
  deliveries,
  attempts,
  posts,
  duplicates,
  lost,
  ms,
  kept,
}: Outcome) {
  const total = (numbers: Iterable<number>) => [...numbers].reduce((sum, number) => sum + number, 0);
  const listed = (entries: Iterable<[string, number]>) =>
    [...entries].map(([name, number]) => `${name} ${number}`).join(', ');
  return [
    `events      ${events}`,
    `faults      ${total(faults.values())}: ${listed(faults)}`,
    `starts      ${starts.made}, of which ${starts.failed} ended at a fault before they served`,
    `executions  ${total(Object.values(executions))}: ${listed(Object.entries(executions))}`,
    `deliveries  ${total(Object.values(deliveries))}: ${listed(Object.entries(deliveries))}`,
    `attempts    ${attempts} recorded, ${posts} received, ${duplicates} of these duplicates, each explained by a fault unless listed`,
    `minutes     ${(ms / 60_000).toFixed(1)}`,
    `lost        ${lost.length}`,
    ...lost.slice(0, mostPrinted).map((one) => `            ${one}`),
    ...(kept ? [`Data and logs are kept in ${kept}`] : []),
  ].join('\n');
}
