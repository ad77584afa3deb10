import { listLimits, requestLog } from './endpoint-budgets.ts';
import { assumptions, type Counts, dollarsOf, durationOf, perMillion, priceNames, type Step, sumOf } from './model.ts';
import { costOf, type Price, priceList, prices } from './prices.ts';
import { type Usage, usage } from './usage.ts';
import { atRest, goals, monthAtRest, requests, steps, workflows } from './workflows.ts';

/** The header of the page: it is generated. */
const header = '<!-- Written by `npm run costs`; run it again instead of editing this page. -->';

const dollars = (amount: number) => `$${amount.toFixed(2)}`;
const plain = (count: number) => (count === 0 ? '' : count.toLocaleString('en'));

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

const goalRows = goals.map(({ what, most, dollars: cost }) => [
  what,
  dollars(most),
  dollars(cost),
  cost <= most ? 'met' : `${dollars(cost - most)} over`,
]);

const usageHead = ['requests', 'rounds', 'reads', 'writes', 'index', 'sends', 'key', 'log bytes', 'ms', '$ a million'];
const usageColumns = (step: Step) => {
  const { requests, rounds, rcu, wcu, indexWcu, sends, keyUses, logBytes } = step.usage;
  const counted = [requests, rounds, rcu, wcu, indexWcu, sends, keyUses, logBytes].map(plain);
  return [...counted, plain(Math.round(durationOf(step))), dollars(perMillion([step]))];
};
const rowsOf = (calls: readonly (Step & { operation: string })[]) =>
  calls.map((step) => [step.operation, step.what, ...usageColumns(step)]);

/** Returns the section of a workflow: the cost of a million by price, each alone and ten at once. */
function workflowSection(title: string, workflow: readonly Step[]): string {
  const [alone, together] = [sumOf(workflow), sumOf(workflow, 10)];
  const million = (counts: Counts, name: (typeof priceNames)[number]) => costOf(name, counts[name]) * 1e6;
  const rows = priceNames
    .filter((name) => alone[name] > 0)
    .map((name) => [prices[name].what, dollars(million(alone, name)), dollars(million(together, name))]);
  const sums = [alone, together].map((counts) => `**${dollars(dollarsOf(counts) * 1e6)}**`);
  const parts = workflow.map((step) => `${step.what} ${dollars(perMillion([step]))}`);
  return `### ${title}\n\nSteps, each alone: ${parts.join(', ')}.\n\n${table(['What', 'alone', 'ten at once'], [...rows, ['**Sum**', ...sums]])}`;
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

What Crewboard costs in AWS: goals, single requests, workers, whole workflows, and a month without requests. Prices are the list
prices of ${priceList.region} as of ${priceList.date}, without tax, discounts and plans.

Requests and capacity units are measured: \`test/costs\` runs the functions over the local table engine, and fails if a figure
differs. Each request counts with ${requestLog.logBytes} bytes in the log of its function, which is the largest value there. Values that one machine
cannot measure are [assumptions](#assumptions).

## Goals

${table(['What', 'Goal', 'Cost', ''], goalRows)}

Each record is counted alone, as in a stack with little work. With more work, calls and requests to queues are shared, and
[it costs less](#workflows). The month at rest is after AWS's allowances that do not expire. All other figures are before them.

Not included:

- stored data: $0.25 a GB and month, and $0.20 for backups
- data that leaves AWS: $0.09 a GB after the first 100
- first calls of a container, retries, and the tokens of models
- seven more custom metrics once they have values (ten of all are free)

The write units of the index within a transaction are those of the local engine. It was not verified whether AWS counts twice as
many.

## Requests

| Column | Meaning |
| --- | --- |
| requests, rounds | requests to the table, and how many of them are made one after the other |
| reads, writes, index | read units and write units of the table, and write units of its index; units of transactions count twice |
| sends, key | requests that send to queues, and requests to KMS |
| log bytes | bytes in the log of the function |
| ms | assumed time of the call |
| $ a million | the cost of a million, with API Gateway, Lambda and both logs |

Texts of items have half a kilobyte. A token that was not used for 30 s needs one more request and one more read unit.

With 100,000 tasks of one year, the first page of a list takes at most ${listLimits.firstPage.rcu} read units (${dollars(listAt(listLimits.firstPage))} a million lists). Later pages take at
most ${listLimits.anyOffset.rcu} (${dollars(listAt(listLimits.anyOffset))}).

${table(['Operation', 'Case', ...usageHead], rowsOf(requests))}

## Workers

The same for the functions of the pipeline. Each is called with one record. A renewal of a lease is a part of an execution.

${table(['Function', 'Case', ...usageHead], rowsOf(steps))}

## Workflows

KMS decrypts a secret at most once in five minutes for each webhook and container. If nearly every delivery is the first in that
time, a million deliveries cost ${dollars(perMillion(workflows.deliveryDecrypted) - perMillion(workflows.delivery))} more.

${workflowSection('A million new tasks, each with its event and delivery', workflows.delivery)}

${workflowSection('A million new tasks with an agent', workflows.deliveryForAgent)}

${workflowSection('A million executions, without their tokens', workflows.execution)}

No webhook is subscribed to them. Each second that a model takes longer costs ${dollars(secondOfWaiting())} a million, and each ten seconds a renewal of the
lease.

${workflowSection('A million executions on tasks with an agent', workflows.executionOnTask)}

## At rest

A month of 30 days without requests. *After free tier* is the cost after AWS's allowances that do not expire, if nothing else in
the account uses them.

${table(['What', 'Why', 'Price', 'After free tier'], [...restRows, ['**Sum**', '', ...[false, true].map((free) => `**${dollars(monthAtRest({ free }))}**`)]])}

## Assumptions

${table(
  ['Name', 'Value', 'Source'],
  Object.entries(assumptions).map(([name, { value, why }]) => [`\`${name}\``, value.toLocaleString('en'), why]),
)}

The time of a call is the sum of its CPU time, its rounds of requests to the table, its other requests, and its waiting times.

## Prices

The first tier of each price, from stored copies of these pages. Where the page of AWS has no figure, the source is another page.

${table(['What', 'Price', 'Free each month', 'Source'], priceRows)}
`;
}

/** Returns the cost of a million lists that have this usage of the table. */
function listAt(table: Partial<Usage>): number {
  return perMillion([{ what: 'list', usage: usage({ ...requestLog, ...table }), by: 'request' }]);
}

/** Returns the cost of one more second of each of a million executions. */
function secondOfWaiting(): number {
  const [run] = workflows.execution.filter(({ what }) => what === 'run') as [Step];
  return perMillion([{ ...run, waitMs: (run.waitMs ?? 0) + 1000 }]) - perMillion([run]);
}
