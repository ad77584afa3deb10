import { type Consumer, type ConsumerName, consumers } from '../../lib/names/consumers.ts';
import { pollingOf } from '../../lib/settings/polling.ts';
import { type Budgeted, endpointBudgets, requestLog } from './endpoint-budgets.ts';
import { assumptions, type Counts, countsOf, dollarsOf, perMillion, type Step, sumOf } from './model.ts';
import { pipelineBudgets } from './pipeline-budgets.ts';
import { type Usage, usage } from './usage.ts';

/** Returns the memory of a consumer's function if it is not the default. */
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

const logged = (budget: Usage): Usage => ({ ...budget, ...requestLog });

export const requests = Object.entries(endpointBudgets).flatMap(([operation, cases]) =>
  Object.entries(cases).map(([name, budget]): Step & { operation: string } => {
    const waitMs = waits[operation as Budgeted] ?? 0;
    return { operation, what: name, usage: logged(budget), by: 'request', waitMs };
  }),
);

const { publishEvents, deliverWebhook, runExecution, purgeAgent, sweepOverdue } = pipelineBudgets;
const created: Step = { what: 'create the task', usage: logged(endpointBudgets.createTask.bare), by: 'request' };
const createdForAgent: Step = { ...created, usage: logged(endpointBudgets.createTask['with an agent']) };
const published: Step = {
  what: 'publish',
  usage: publishEvents['a new task with a subscriber'],
  ofTen: { usage: publishEvents['ten new tasks with a subscriber'], waitMs: 0 },
  by: 'stream',
};
const withoutSubscribers = publishEvents['a new task without subscribers'];
/** A delivery without a request to KMS: many deliveries of a webhook share one in five minutes. */
const delivered: Step = {
  what: 'deliver',
  usage: { ...deliverWebhook.delivered, keyUses: 0 },
  // A container makes five attempts to a webhook at the same time.
  ofTen: { usage: { ...deliverWebhook['ten delivered'], keyUses: 0 }, waitMs: 2 * receiverMs.value },
  by: 'queue',
  waitMs: receiverMs.value,
  ...memoryOf('deliverWebhook'),
};
/** The check of five minutes of events: its item is written, moved in the index, and deleted after the events are read. */
const planned = difference(
  publishEvents['a new task with a subscriber, the first of five minutes'],
  publishEvents['a new task with a subscriber'],
);
const made = difference(sweepOverdue['a check of a hundred events'], sweepOverdue['no delivery overdue']);
const check = usage(sumOfUsages(planned, made));
/** A million events of an organization in a month are 115 in five minutes. */
const checked: Step = { what: 'check', usage: check, by: 'part', times: 1 / 100 };
const decrypted: Step = { ...delivered, usage: deliverWebhook.delivered };

const started = (what: keyof typeof endpointBudgets.executeAgent): Step[] => [
  { what: 'execute', usage: logged(endpointBudgets.executeAgent[what]), by: 'request' },
  { what: 'publish the start', usage: publishEvents['the start of an execution'], by: 'stream' },
];
const ranFor = (what: 'without a task' | 'with a task'): Step[] => [
  {
    what: 'run',
    usage: runExecution[what],
    by: 'queue',
    batchSize,
    waitMs: modelMs.value,
    ...memoryOf('runExecution'),
  },
  { what: 'publish the end', usage: publishEvents['the end of an execution'], by: 'stream' },
];

const callers: Record<ConsumerName, Step['by']> = {
  publishEvents: 'stream',
  deliverWebhook: 'queue',
  runExecution: 'queue',
  purgeAgent: 'clock',
  sweepOverdue: 'clock',
};

/** A part of each execution that takes longer than ten seconds. */
const renewal = 'a renewal of the lease' satisfies keyof typeof runExecution;
/** The waits of the steps that call a receiver or a model. */
const stepWaits: Record<string, number> = {
  'ten delivered': 2 * receiverMs.value,
  ...Object.fromEntries(
    [
      'delivered',
      'delivered in the overlap of a rotation',
      'not delivered',
      'not delivered, the third in a row',
      'not delivered to a failing webhook',
    ].map((what) => [what, receiverMs.value]),
  ),
  ...Object.fromEntries(
    [
      'without a task',
      'with a task',
      'with a task that depends on two finished ones',
      'of an agent that ran before',
    ].map((what) => [what, modelMs.value]),
  ),
};

export const steps = Object.entries(pipelineBudgets).flatMap(([name, cases]) =>
  Object.entries(cases).map(([what, budget]): Step & { operation: string } => {
    const waitMs = stepWaits[what] ?? 0;
    const by = what === renewal ? 'part' : callers[name as ConsumerName];
    return { operation: name, what, usage: budget, by, waitMs, ...memoryOf(name as ConsumerName) };
  }),
);

export const workflows = {
  delivery: [created, published, delivered, checked],
  deliveryForAgent: [createdForAgent, published, delivered, checked],
  deliveryDecrypted: [created, published, decrypted, checked],
  execution: [...started('without a task'), ...ranFor('without a task')],
  executionOnTask: [
    ...started('with a task'),
    ...ranFor('with a task'),
    { what: 'publish both changes of the task', usage: withoutSubscribers, by: 'stream', times: 2 },
  ],
  /** A fifth of a sweep for five events. */
  recovered: [
    { what: 'store and send', usage: sweepOverdue['a recovery of five events'], by: 'part', times: 1 / 5 },
    delivered,
  ],
} as const satisfies Record<string, readonly Step[]>;

function sumOfUsages(one: Usage, other: Usage): Usage {
  const units = Object.keys(one) as (keyof Usage)[];
  return Object.fromEntries(units.map((unit) => [unit, one[unit] + other[unit]])) as Usage;
}

function difference(more: Usage, less: Usage): Usage {
  const units = Object.keys(more) as (keyof Usage)[];
  return Object.fromEntries(units.map((unit) => [unit, more[unit] - less[unit]])) as Usage;
}

/** The seconds of a month of 30 days. */
const monthSeconds = 30 * 86_400;

/** The resources of the stack that cost money without requests; a test compares them with its template. */
export const resourcesAtRest = {
  keys: 1,
  alarmMetrics: 12,
  /** Custom metrics that are written without requests. */
  metrics: 1,
  polledQueues: Object.values(consumers)
    .flatMap((consumer): readonly object[] => consumer.sources)
    .filter((source) => 'queue' in source).length,
  /** Pollers of an idle queue whose event source has a maximum concurrency (AWS Lambda Developer Guide). */
  pollers: 5,
  /** The time of a long poll. */
  longPollSeconds: 20,
  /** The period of the schedules. */
  everySeconds: consumers.sweepOverdue.sources[0].everySeconds,
} as const;

const nothing: Counts = sumOf([{ what: '', usage: usage({}), by: 'clock', times: 0 }]);

/** The calls by the schedules when nothing is due. */
const idleCalls = [
  sweepOverdue['no delivery overdue'],
  sweepOverdue['no recovery due'],
  sweepOverdue['no execution overdue'],
  purgeAgent['no purge due'],
  sweepOverdue['a heartbeat'],
] as const;

/** Returns the step of a call in each period of the schedules, for a month. */
const eachPeriod = (used: Usage, by: Step['by']): Step => ({
  ...{ what: 'at rest', usage: used, by, times: monthSeconds / resourcesAtRest.everySeconds },
});

const { keys, polledQueues, pollers, longPollSeconds, alarmMetrics, metrics, everySeconds } = resourcesAtRest;
const polls = (polledQueues * pollers * monthSeconds) / longPollSeconds;

/** The parts of the cost of a month without requests: each with its reason and its counts. */
export const atRest: readonly (readonly [what: string, how: string, counts: Counts])[] = [
  ['KMS key', `${keys}; each of the first two yearly rotations adds one`, { ...nothing, key: keys }],
  [
    'Polling of queues',
    `${polledQueues} queues that call a function, ${pollers} pollers each, a request every ${longPollSeconds} s`,
    { ...nothing, queueRequest: polls },
  ],
  ['Alarms', `${alarmMetrics} metrics that alarms watch`, { ...nothing, alarmMetric: alarmMetrics }],
  ['Metrics', `${metrics} custom metric, written when the heartbeat arrives`, { ...nothing, customMetric: metrics }],
  [
    'Schedules',
    `a call every ${everySeconds} s for each of ${idleCalls.length} jobs: time, reads, the heartbeat and log lines`,
    sumOf(idleCalls.map((used) => eachPeriod(used, 'clock'))),
  ],
  [
    'Arrival of the heartbeat',
    `a call of publish-events every ${everySeconds} s: time and a log line`,
    countsOf(eachPeriod(publishEvents['a heartbeat'], 'stream')),
  ],
];

export function monthAtRest({ free }: { free: boolean }): number {
  return atRest.reduce((sum, [, , counts]) => sum + dollarsOf(counts, { free }), 0);
}

const request = (operation: Budgeted, name: string) =>
  perMillion(requests.filter((step) => step.operation === operation && step.what === name));

const listCosts = requests.filter(({ operation }) => operation === 'listTasks').map((step) => perMillion([step]));

/** The cost goals, and the computed costs. */
export const goals: readonly { what: string; most: number; dollars: number }[] = [
  { what: 'a million reads of a task', most: 2, dollars: request('getTask', 'bare') },
  {
    what: 'a million lists of 20 of 100 tasks, with the most expensive filter',
    most: 5.5,
    dollars: Math.max(...listCosts),
  },
  {
    what: 'a million new tasks, each with its event and delivery',
    most: 11.5,
    dollars: perMillion(workflows.delivery),
  },
  { what: 'a million new tasks with an agent', most: 16.5, dollars: perMillion(workflows.deliveryForAgent) },
  { what: 'a million executions, without their tokens', most: 45, dollars: perMillion(workflows.execution) },
  { what: 'a million executions on tasks with an agent', most: 105, dollars: perMillion(workflows.executionOnTask) },
  { what: 'a month at rest', most: 2.5, dollars: monthAtRest({ free: true }) },
];
