import { type Consumer, type ConsumerName, consumers } from '../../lib/deployment/consumers.ts';
import { pollingOf } from '../../lib/deployment/polling.ts';
import { type Budgeted, endpointBudgets, requestLog } from './endpoint-budgets.ts';
import { assumptions, type Counts, countsOf, dollarsOf, perMillion, type Step, sumOf } from './model.ts';
import { pipelineBudgets } from './pipeline-budgets.ts';
import { type Usage, usage } from './usage.ts';

/** The memory of a consumer's function, where it is not that of the others. */
const memoryOf = (name: ConsumerName): Pick<Step, 'memoryMegabytes'> => {
  const { memoryMegabytes }: Consumer = consumers[name];
  return memoryMegabytes ? { memoryMegabytes } : {};
};
const { batchSize } = pollingOf().executions;
const { receiverMs, modelMs, improvementMs } = assumptions;
const waits: Partial<Record<Budgeted, number>> = {
  testWebhook: receiverMs.value,
  selfImproveAgent: improvementMs.value,
};

/** What a request takes, with its line in the log. */
const logged = (budget: Usage): Usage => ({ ...budget, ...requestLog });

/** A request to each row that has a budget, by its case. */
export const requests = Object.entries(endpointBudgets).flatMap(([operation, cases]) =>
  Object.entries(cases).map(([name, budget]): Step & { operation: string } => {
    const waitMs = waits[operation as Budgeted] ?? 0;
    return { operation, what: name, usage: logged(budget), by: 'request', waitMs };
  }),
);

const { publishEvents, deliverWebhook, runExecution, sweepOverdue } = pipelineBudgets;
const created: Step = { what: 'create the task', usage: logged(endpointBudgets.createTask.bare), by: 'request' };
const createdForAgent: Step = { ...created, usage: logged(endpointBudgets.createTask['with an agent']) };
const told: Step = { what: 'publish', usage: publishEvents['a new task with a subscriber'], by: 'stream' };
/** KMS is asked once in five minutes for a webhook: of what many deliveries share, each has as good as nothing. */
const delivered: Step = {
  what: 'deliver',
  usage: { ...deliverWebhook.delivered, keyUses: 0 },
  by: 'queue',
  waitMs: receiverMs.value,
  ...memoryOf('deliverWebhook'),
};
/** What an event takes more where the sweeper checks it: it is listed, found, listed for later and taken off the list. */
const check = usage({
  ...difference(sweepOverdue['a sampled event'], sweepOverdue['no delivery overdue']),
  indexWcu: sweepOverdue['a sampled event'].indexWcu + publishEvents['a new task with a subscriber, sampled'].indexWcu,
});
/** One event of 32 is checked. */
const checked = (events: number): Step => ({ what: 'check', usage: check, by: 'part', times: events / 32 });
const opened: Step = { ...delivered, usage: deliverWebhook.delivered };

const started = (what: keyof typeof endpointBudgets.executeAgent): Step[] => [
  { what: 'execute', usage: logged(endpointBudgets.executeAgent[what]), by: 'request' },
  { what: 'publish the start', usage: publishEvents['the start of an execution'], by: 'stream' },
];
const ranFor = (what: 'without a task' | 'with a task'): Step[] => [
  {
    what: 'run',
    usage: runExecution[what],
    by: 'queue',
    waitMs: modelMs.value,
    batchSize,
    ...memoryOf('runExecution'),
  },
  { what: 'see the lease', usage: publishEvents['a change that is no event'], by: 'stream' },
  { what: 'publish the end', usage: publishEvents['the end of an execution'], by: 'stream' },
];

const callers: Record<ConsumerName, Step['by']> = {
  publishEvents: 'stream',
  deliverWebhook: 'queue',
  runExecution: 'queue',
  purgeAgent: 'queue',
  sweepOverdue: 'clock',
};

/** A part of each run that takes longer than ten seconds. */
const renewal = 'a renewal of the lease' satisfies keyof typeof runExecution;
const stepWaits: Record<string, number> = {
  'deliverWebhook, delivered': receiverMs.value,
  'deliverWebhook, not delivered': receiverMs.value,
  'runExecution, without a task': modelMs.value,
  'runExecution, with a task': modelMs.value,
  'runExecution, of an agent that ran before': modelMs.value,
};

/** The calls of the pipeline's functions. */
export const steps = Object.entries(pipelineBudgets).flatMap(([name, cases]) =>
  Object.entries(cases).map(([what, budget]): Step & { operation: string } => {
    const waitMs = stepWaits[`${name}, ${what}`] ?? 0;
    const by = what === renewal ? 'part' : callers[name as ConsumerName];
    return { operation: name, what, usage: budget, by, waitMs, ...memoryOf(name as ConsumerName) };
  }),
);

/** Stories that are told in several steps. */
export const stories = {
  delivery: [created, told, delivered, checked(1)],
  deliveryForAgent: [createdForAgent, told, delivered, checked(1)],
  deliveryOpened: [created, told, opened, checked(1)],
  execution: [...started('without a task'), ...ranFor('without a task'), checked(2)],
  executionOnTask: [
    ...started('with a task'),
    ...ranFor('with a task'),
    {
      what: 'publish both changes of the task',
      usage: publishEvents['a new task without subscribers'],
      by: 'stream',
      times: 2,
    },
    checked(4),
  ],
} as const satisfies Record<string, readonly Step[]>;

/** What one usage takes more than another. */
function difference(more: Usage, less: Usage): Usage {
  const units = Object.keys(more) as (keyof Usage)[];
  return Object.fromEntries(units.map((unit) => [unit, more[unit] - less[unit]])) as Usage;
}

/** A month has so many days and seconds here. */
const monthSeconds = 30 * 86_400;

/** What the stack has that is paid for though nothing happens; tests hold these to it. */
export const membership = {
  keys: 1,
  /** Metrics that alarms look at. */
  alarmMetrics: 11,
  /** Metrics of ours that are written though nothing happens. */
  metrics: 1,
  /** Queues that call a function. */
  polledQueues: Object.values(consumers)
    .flatMap((consumer): readonly object[] => consumer.sources)
    .filter((source) => 'queue' in source).length,
  /** Lambda asks an idle queue so often side by side where a maximum concurrency is set (AWS Lambda Developer Guide). */
  pollers: 5,
  /** Each time for so long. */
  longPollSeconds: 20,
  everySeconds: consumers.sweepOverdue.sources[0].everySeconds,
} as const;

const nothing: Counts = sumOf([{ what: '', usage: usage({}), by: 'clock', times: 0 }]);

/** What the sweeper's schedules lead to where nothing is overdue. */
const idleJobs = ['no delivery overdue', 'no execution overdue', 'no purge overdue', 'a heartbeat'] as const;

/** A call that is made each time that a schedule of the sweeper is due. */
const eachPeriod = (used: Usage, by: Step['by']): Step => ({
  what: 'at rest',
  usage: used,
  by,
  times: monthSeconds / membership.everySeconds,
});

/** What a month costs in which nobody calls, part by part. */
export const atRest: readonly { what: string; how: string; counts: Counts }[] = [
  {
    what: 'KMS key',
    how: `${membership.keys}; each of the first two yearly rotations adds one`,
    counts: { ...nothing, key: membership.keys },
  },
  {
    what: 'Polling of queues',
    how: `${membership.polledQueues} queues that call a function, ${membership.pollers} pollers each, a request every ${membership.longPollSeconds} s`,
    counts: {
      ...nothing,
      queueRequest: (membership.polledQueues * membership.pollers * monthSeconds) / membership.longPollSeconds,
    },
  },
  {
    what: 'Alarms',
    how: `${membership.alarmMetrics} metrics that alarms watch`,
    counts: { ...nothing, alarmMetric: membership.alarmMetrics },
  },
  {
    what: 'Metrics',
    how: `${membership.metrics} custom metric, written when the heartbeat arrives`,
    counts: { ...nothing, customMetric: membership.metrics },
  },
  {
    what: 'Sweeper',
    how: `a call every ${membership.everySeconds} s for each of ${idleJobs.length} jobs: time, reads, the heartbeat and log lines`,
    counts: sumOf(idleJobs.map((job) => eachPeriod(sweepOverdue[job], 'clock'))),
  },
  {
    what: 'Arrival of the heartbeat',
    how: `a call of publish-events every ${membership.everySeconds} s: time and a log line`,
    counts: countsOf(eachPeriod(publishEvents['a heartbeat'], 'stream')),
  },
];

/** What all of that costs, in dollars. */
export function monthAtRest({ free }: { free: boolean }): number {
  return atRest.reduce((sum, { counts }) => sum + dollarsOf(counts, { free }), 0);
}

const request = (operation: Budgeted, name: string) =>
  perMillion(requests.filter((step) => step.operation === operation && step.what === name));

/** What it is to cost at most, and what it costs. */
export const goals: readonly { what: string; most: number; dollars: number }[] = [
  { what: 'a million reads of a task', most: 2, dollars: request('getTask', 'bare') },
  {
    what: 'a million lists of 20 of 100 tasks, with the most expensive filter',
    most: 5.5,
    dollars: Math.max(
      ...requests.filter(({ operation }) => operation === 'listTasks').map((step) => perMillion([step])),
    ),
  },
  { what: 'a million new tasks, each with its event and delivery', most: 11.5, dollars: perMillion(stories.delivery) },
  { what: 'a million new tasks with an agent', most: 16.5, dollars: perMillion(stories.deliveryForAgent) },
  { what: 'a million executions, without their tokens', most: 70, dollars: perMillion(stories.execution) },
  { what: 'a million executions on tasks with an agent', most: 105, dollars: perMillion(stories.executionOnTask) },
  { what: 'a month at rest', most: 2.5, dollars: monthAtRest({ free: true }) },
];
