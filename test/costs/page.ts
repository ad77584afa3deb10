import { listLimits, requestLog } from './endpoint-budgets.ts';
import { assumptions, type Counts, dollarsOf, durationOf, perMillion, priceNames, type Step, sumOf } from './model.ts';
import { costOf, type Price, priceList, prices } from './prices.ts';
import { atRest, goals, monthAtRest, requests, steps, stories } from './stories.ts';
import { type Usage, usage } from './usage.ts';

/** The page begins so: nothing in it is written by hand. */
const header = '<!-- Written by `npm run costs`; run it again instead of editing this page. -->';

const dollars = (amount: number) => `$${amount.toFixed(2)}`;
const plain = (count: number) => (count === 0 ? '' : count.toLocaleString('en'));

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((facets) => `| ${facets.join(' | ')} |`).join('\n');
}

const goalRows = goals.map(({ what, most, dollars: cost }) => [
  what,
  dollars(most),
  dollars(cost),
  cost <= most ? 'met' : `${dollars(cost - most)} over`,
]);

const usageHead = ['requests', 'rounds', 'reads', 'writes', 'index', 'sends', 'key', 'log bytes', 'ms', '$ a million'];
const usageCells = (step: Step) => {
  const { requests, rounds, rcu, wcu, indexWcu, sends, keyUses, logBytes } = step.usage;
  const counted = [requests, rounds, rcu, wcu, indexWcu, sends, keyUses, logBytes].map(plain);
  return [...counted, plain(Math.round(durationOf(step))), dollars(perMillion([step]))];
};
const rowsOf = (calls: readonly (Step & { operation: string })[]) =>
  calls.map((step) => [step.operation, step.what, ...usageCells(step)]);

/** What a million of a story costs, by what is paid: each alone, and ten at once. */
function storyOf(title: string, told: readonly Step[]): string {
  const [alone, together] = [sumOf(told), sumOf(told, 10)];
  const million = (counts: Counts, name: (typeof priceNames)[number]) => costOf(name, counts[name]) * 1e6;
  const rows = priceNames
    .filter((name) => alone[name] > 0)
    .map((name) => [prices[name].what, dollars(million(alone, name)), dollars(million(together, name))]);
  const sums = [alone, together].map((counts) => `**${dollars(dollarsOf(counts) * 1e6)}**`);
  const parts = told.map((step) => `${step.what} ${dollars(perMillion([step]))}`);
  return `### ${title}\n\nStep by step, each alone: ${parts.join(', ')}.\n\n${table(['What', 'alone', 'ten at once'], [...rows, ['**Sum**', ...sums]])}`;
}

const restRows = atRest.map(({ what, how, counts }) => [
  what,
  how,
  dollars(dollarsOf(counts)),
  dollars(dollarsOf(counts, { free: true })),
]);

const priceRows = Object.values<Price>(prices).map(({ what, dollars: price, per, free, units, seen }) => [
  what,
  `$${price} a ${per}`,
  free === undefined ? '' : units === 1e9 ? `${free / 1e9} GB` : free.toLocaleString('en'),
  `${seen.on} (${seen.of})`,
]);

/** The page of all costs, as Markdown. */
export function costsPage(): string {
  return `${header}

# Costs

What this service costs in AWS, computed from what its functions were measured to ask of AWS and from AWS's list prices of
${priceList.region} as of ${priceList.date}, without tax, discounts and plans. The requests and the capacity units are the figures
that \`test/costs\` measures through the very functions, over the local table engine; it fails if one differs. Each request is
counted with ${requestLog.logBytes} bytes in its function's log, which none exceeds there.
What cannot be measured on one machine is [assumed](#assumptions).

## Goals

${table(['What', 'at most', 'costs', ''], goalRows)}

Each record is taken alone here, as where little goes on; where much does, calls, their time and requests to queues are
shared, and [the same costs less](#stories). Of a month at rest what AWS gives for free for ever is taken off, of nothing else.

Left out: what is stored ($0.25 a GB and month, and $0.20 for its backups), data that leaves AWS ($0.09 a GB after the first
100), first calls of a container, tries again, the tokens of models, and seven more metrics of ours once there is something to
count, which are free too: ten are.
The units of the sweeper's index within a transaction are the local engine's count; whether AWS takes twice as many there
was not verified.

## Requests

For each case: requests to the table and how many rounds of them wait for one another, read and write units of the table
(those of a transaction are twice as many), write units of its index, requests that send to queues and that use the key,
bytes of the function's log, the assumed time of the call, and what a million cost with API Gateway, Lambda and both
logs. Items have a text of half a kilobyte. A token that was not used for half a minute is read first: one request and
one read unit more. On a board of 100,000 tasks over a year a list takes at most ${listLimits.firstPage.rcu} read units for its first page, which
is ${dollars(listAt(listLimits.firstPage))} a million, and ${listLimits.anyOffset.rcu} further down, which is ${dollars(listAt(listLimits.anyOffset))}.

${table(['Row', 'Case', ...usageHead], rowsOf(requests))}

## Steps behind the answer

The same of the pipeline's functions, each called with one record; a renewal is a part of a run.

${table(['Function', 'Case', ...usageHead], rowsOf(steps))}

## Stories

Secrets are opened by KMS at most once in five minutes for a webhook and container. Where nearly every delivery is the
first in that time, a million cost ${dollars(perMillion(stories.deliveryOpened) - perMillion(stories.delivery))} more.

${storyOf('A million new tasks, each with its event and delivery', stories.delivery)}

${storyOf('The same of tasks with an agent', stories.deliveryForAgent)}

${storyOf('A million executions, without their tokens', stories.execution)}

No webhook hears of them. Each second that a model takes longer costs ${dollars(secondOfWaiting())} a million, and each ten seconds a renewal of the hold.

${storyOf('The same on tasks with an agent', stories.executionOnTask)}

## At rest

A month of 30 days in which nobody calls. Under *always free* is what is left after AWS's allowances that do not expire, if
nothing else in the account uses them up.

${table(['What', 'How it comes about', 'Price', 'Always free'], [...restRows, ['**Sum**', '', ...[false, true].map((free) => `**${dollars(monthAtRest({ free }))}**`)]])}

## Assumptions

${table(
  ['What', 'Value', 'Where from'],
  Object.entries(assumptions).map(([name, { value, why }]) => [`\`${name}\``, value.toLocaleString('en'), why]),
)}

A call takes its processor time, the rounds of its requests to the table, its other requests, and what it waits for others.

## Prices

The first tier of each. They were looked up in stored copies of these pages; where AWS's own page names no figure there,
what others say of it.

${table(['What', 'Price', 'Free each month', 'Seen'], priceRows)}
`;
}

/** What a million lists cost that take this of the table. */
function listAt(table: Partial<Usage>): number {
  return perMillion([{ what: 'list', usage: usage({ ...requestLog, ...table }), by: 'request' }]);
}

/** What another second of each of a million executions costs. */
function secondOfWaiting(): number {
  const [run] = stories.execution.filter(({ what }) => what === 'run') as [Step];
  return perMillion([{ ...run, waitMs: (run.waitMs ?? 0) + 1000 }]) - perMillion([run]);
}
