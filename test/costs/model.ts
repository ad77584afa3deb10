import { type Consumer, consumers } from '../../lib/names/consumers.ts';
import { accessBytes } from './log-lines.ts';
import { costOf, type PriceName, prices } from './prices.ts';
import type { Usage } from './usage.ts';

/** The functions that have other memory than the rest, in megabytes. */
const exceptions = Object.entries<Consumer>(consumers).flatMap(([name, { memoryMegabytes }]) =>
  memoryMegabytes ? [[name, memoryMegabytes] as const] : [],
);

/** Values that one machine cannot measure and that are assumed; `why` is the source of each. */
export const assumptions = {
  memoryMegabytes: {
    value: 512,
    why: `the memory of each function, except: ${exceptions.map(([name, memory]) => `\`${name}\` has ${memory}`).join(', ')}`,
  },
  vcpuMegabytes: {
    value: 1769,
    why: 'the memory at which Lambda gives a whole vCPU; less memory gets a share of it (AWS Lambda Developer Guide)',
  },
  cpuMs: {
    value: 4,
    why: 'CPU time of a call on a whole vCPU; docs/benchmarks.md has 3.7 for a delivery, the highest',
  },
  roundMs: { value: 5, why: 'a round of requests to the table: AWS promises single-digit milliseconds' },
  sendMs: { value: 10, why: 'a request to SQS or KMS: not verified' },
  receiverMs: {
    value: 200,
    why: 'the time of a receiver with connection and TLS: not verified, depends on the receiver',
  },
  modelMs: {
    value: 5_000,
    why: 'how long an execution waits for its model, with both gates: not verified, depends on the model',
  },
  improvementMs: { value: 20_000, why: 'how long a pass of self-improvement waits for models, of at most 25 s' },
} as const satisfies Record<string, { value: number; why: string }>;

const memoryOfOthers = assumptions.memoryMegabytes.value;

/** A call of a function, with the requests around it that cost money. */
export type Step = {
  what: string;
  usage: Usage;
  /**
   * The caller. A queue adds a request that receives and one that deletes, a schedule the price of its call; the stream
   * costs nothing. A part belongs to another call, so it has none of its own.
   */
  by: 'request' | 'queue' | 'stream' | 'clock' | 'part';
  /** The time that it waits for others, in milliseconds. */
  waitMs?: number | undefined;
  /** The number of times that it happens; 1 if absent. */
  times?: number;
  /** The memory of its function, if not the default. */
  memoryMegabytes?: number;
  batchSize?: number;
  /**
   * A call with ten records, if it was measured: its usage, and the time that it waits for others. Without it, such a call has ten
   * times the units and the log.
   */
  ofTen?: { usage: Usage; waitMs: number };
};

export type Counts = Readonly<Record<PriceName, number>>;

/** Returns the duration of the call of a step, in milliseconds. */
export function durationOf({ usage, by, waitMs = 0, memoryMegabytes = memoryOfOthers }: Step): number {
  if (by === 'part') return 0;
  const { vcpuMegabytes, cpuMs, roundMs, sendMs } = assumptions;
  const own = (cpuMs.value * vcpuMegabytes.value) / memoryMegabytes;
  return own + usage.rounds * roundMs.value + (usage.sends + usage.keyUses) * sendMs.value + waitMs;
}

/**
 * Returns the units that a step costs.
 *
 * @param together the number of records of one call, which share its price, its time and its requests to queues
 */
export function countsOf(step: Step, together = 1): Counts {
  const { by, times = 1, batchSize = by === 'request' ? 1 : together, ofTen } = step;
  const shared = Math.min(together, batchSize);
  const calls = by === 'part' ? 0 : 1 / shared;
  const measured = shared === 10 ? ofTen : undefined;
  const { usage, waitMs } = measured ?? step;
  const each = (units: number) => (measured ? units / shared : units);
  const ofQueue = usage.sends + (by === 'queue' ? 2 : 0);
  const gigabytes = (step.memoryMegabytes ?? memoryOfOthers) / 1024;
  const once: Counts = {
    apiRequest: by === 'request' ? 1 : 0,
    call: calls,
    scheduledCall: by === 'clock' ? calls : 0,
    gigabyteSecond: (gigabytes * durationOf({ ...step, usage, waitMs })) / 1000 / shared,
    readUnit: each(usage.rcu),
    writeUnit: each(usage.wcu + usage.indexWcu),
    queueRequest: ofQueue / shared,
    keyUse: each(usage.keyUses),
    key: 0,
    logGigabyte: each(usage.logBytes) + (by === 'request' ? accessBytes : 0),
    alarmMetric: 0,
    customMetric: 0,
  };
  return mapCounts((name) => once[name] * times);
}

export function sumOf(steps: readonly Step[], together = 1): Counts {
  const each = steps.map((step) => countsOf(step, together));
  return mapCounts((name) => each.reduce((sum, counts) => sum + counts[name], 0));
}

export function dollarsOf(counts: Counts, { free = false } = {}): number {
  return priceNames.reduce((sum, name) => sum + costOf(name, counts[name], { free }), 0);
}

/** Returns the cost of a million times the steps, in dollars. */
export function perMillion(steps: readonly Step[], together = 1): number {
  return dollarsOf(sumOf(steps, together)) * 1e6;
}

export const priceNames = Object.keys(prices) as PriceName[];

function mapCounts(countOf: (name: PriceName) => number): Counts {
  return Object.fromEntries(priceNames.map((name) => [name, countOf(name)])) as Counts;
}
