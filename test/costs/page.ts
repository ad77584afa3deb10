import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listLimits, requestLog } from './endpoint-budgets.ts';
import { assumptions, type Counts, dollarsOf, durationOf, perMillion, priceNames, type Step, sumOf } from './model.ts';
import { costOf, type Price, priceList, prices } from './prices.ts';
import { type Usage, usage } from './usage.ts';
import { atRest, goals, monthAtRest, requests, steps, workflows } from './workflows.ts';

const header =
  '<!-- Written by `npm run costs` from test/costs/page.md; run it again instead of editing this page. -->';

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

/** Returns the cost of a million workflows by step and by price, each alone and ten at once. */
function workflowTable(workflow: readonly Step[]): string {
  const [alone, together] = [sumOf(workflow), sumOf(workflow, 10)];
  const million = (counts: Counts, name: (typeof priceNames)[number]) => costOf(name, counts[name]) * 1e6;
  const rows = priceNames
    .filter((name) => alone[name] > 0)
    .map((name) => [prices[name].what, dollars(million(alone, name)), dollars(million(together, name))]);
  const sums = [alone, together].map((counts) => `**${dollars(dollarsOf(counts) * 1e6)}**`);
  const parts = workflow.map((step) => `${step.what} ${dollars(perMillion([step]))}`);
  return `Steps, each alone: ${parts.join(', ')}.\n\n${table(['What', 'alone', 'ten at once'], [...rows, ['**Sum**', ...sums]])}`;
}

const restRows = atRest.map(([what, how, counts]) => [
  what,
  how,
  dollars(dollarsOf(counts)),
  dollars(dollarsOf(counts, { free: true })),
]);

const priceRows = Object.values<Price>(prices).map(({ what, dollars: price, per, free, units, seen }) => [
  what,
  `$${price} a ${per}`,
  free === undefined ? '' : units === 1e9 ? `${free / 1e9} GB` : free.toLocaleString('en'),
  seen,
]);

/** The cost of a million tasks with events and deliveries, of only what has a price for each request and each write unit. */
const delivery = sumOf(workflows.delivery);
const perRequest = ['apiRequest', 'call', 'writeUnit', 'queueRequest'] as const;
const deliveryFloor = perRequest.reduce((sum, name) => sum + costOf(name, delivery[name]) * 1e6, 0);

/** The computed parts of the page, by their names in `page.md`. */
const parts: Record<string, string> = {
  region: priceList.region,
  date: priceList.date,
  logBytes: `${requestLog.logBytes}`,
  goals: table(['What', 'Goal', 'Cost', ''], goalRows),
  deliveryFloor: dollars(deliveryFloor),
  deliveryAlone: dollars(perMillion(workflows.delivery)),
  deliveryTogether: dollars(perMillion(workflows.delivery, 10)),
  deliveryBefore: dollars(perMillion(workflows.delivery, 10) - costOf('writeUnit', 2e6)),
  executionAlone: dollars(perMillion(workflows.execution)),
  executionOnTaskAlone: dollars(perMillion(workflows.executionOnTask)),
  firstPageUnits: `${listLimits.firstPage.rcu}`,
  firstPage: dollars(listAt(listLimits.firstPage)),
  laterPageUnits: `${listLimits.anyOffset.rcu}`,
  laterPage: dollars(listAt(listLimits.anyOffset)),
  requests: table(['Operation', 'Case', ...usageHead], rowsOf(requests)),
  workers: table(['Function', 'Case', ...usageHead], rowsOf(steps)),
  decryption: dollars(perMillion(workflows.deliveryDecrypted) - perMillion(workflows.delivery)),
  delivery: workflowTable(workflows.delivery),
  deliveryForAgent: workflowTable(workflows.deliveryForAgent),
  execution: workflowTable(workflows.execution),
  executionOnTask: workflowTable(workflows.executionOnTask),
  recovered: dollars(perMillion(workflows.recovered)),
  second: dollars(secondOfWaiting()),
  atRest: table(
    ['What', 'Why', 'Price', 'After free tier'],
    [...restRows, ['**Sum**', '', ...[false, true].map((free) => `**${dollars(monthAtRest({ free }))}**`)]],
  ),
  assumptions: table(
    ['Name', 'Value', 'Source'],
    Object.entries(assumptions).map(([name, { value, why }]) => [`\`${name}\``, value.toLocaleString('en'), why]),
  ),
  prices: table(['What', 'Price', 'Free each month', 'Source'], priceRows),
};

/** Returns the page of all costs: `page.md` with the computed parts in the places of their names. */
export function costsPage(): string {
  const text = readFileSync(join(import.meta.dirname, 'page.md'), 'utf8');
  return `${header}\n\n${text.replaceAll(/\{(\w+)\}/g, (_, name: string) => parts[name] as string)}`;
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
