import type { Outcome } from './soak.ts';

/** The most faults that are printed. */
const mostPrinted = 50;

/** Returns the result of a soak as text, a line for each figure. */
export function summaryOf(outcome: Outcome): string {
  const { faults, starts, lost, kept } = outcome;
  const counted = (entries: Iterable<[string, number]>) => {
    const all = [...entries];
    const total = all.reduce((sum, [, number]) => sum + number, 0);
    return `${total}: ${all.map(([name, number]) => `${name} ${number}`).join(', ')}`;
  };
  return [
    `events      ${outcome.events}`,
    `faults      ${counted(faults)}`,
    `starts      ${starts.made}, of which ${starts.failed} ended at a fault before they served`,
    `executions  ${counted(Object.entries(outcome.executions))}`,
    `deliveries  ${counted(Object.entries(outcome.deliveries))}`,
    `attempts    ${outcome.attempts} recorded, ${outcome.posts} received, ${outcome.duplicates} of these duplicates, each explained by a fault unless listed`,
    `minutes     ${(outcome.ms / 60_000).toFixed(1)}`,
    `lost        ${lost.length}`,
    ...lost.slice(0, mostPrinted).map((one) => `            ${one}`),
    ...(kept ? [`Data and logs are kept in ${kept}`] : []),
  ].join('\n');
}
