import { type Consumer, consumers } from '../../lib/deployment/consumers.ts';
import { accessBytes } from './log-lines.ts';
import { costOf, type PriceName, prices } from './prices.ts';
import type { Usage } from './usage.ts';

/** The functions that have other memory than the rest, in megabytes. */
const exceptions = Object.entries<Consumer>(consumers).flatMap(([name, { memoryMegabytes }]) =>
  memoryMegabytes ? [[name, memoryMegabytes] as const] : [],
);

/** What cannot be measured on one machine, and is assumed; `why` says where each comes from. */
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

/** A call of a function, and what is paid around it. */
export type Step = {
  what: string;
  usage: Usage;
  /**
   * By what it is called: a request, the stream or the clock, which cost nothing, or a queue, which is received from and
   * deleted in. A part of another call is paid for without one of its own.
   */
  by: 'request' | 'queue' | 'stream' | 'clock' | 'part';
  /** How long it waits for others, in milliseconds. */
  waitMs?: number;
  /** How often it happens, if not once. */
  times?: number;
  /** The memory of its function, if not as much as of the others. */
  memoryMegabytes?: number;
  /** It is called with no more records than these. */
  batchSize?: number;
};

/** How often each price is paid. */
export type Counts = Readonly<Record<PriceName, number>>;

/** How long the call of a step takes, in milliseconds. */
export function durationOf({ usage, by, waitMs = 0, memoryMegabytes = memoryOfOthers }: Step): number {
  if (by === 'part') return 0;
  const { vcpuMegabytes, cpuMs, roundMs, sendMs } = assumptions;
  const own = (cpuMs.value * vcpuMegabytes.value) / memoryMegabytes;
  return own + usage.rounds * roundMs.value + (usage.sends + usage.keyUses) * sendMs.value + waitMs;
}

/**
 * What is paid for a step.
 *
 * @param together so many records come in one call: it, its time and its requests to queues are shared by them
 */
export function countsOf(step: Step, together = 1): Counts {
  const { usage, by, times = 1, batchSize = by === 'request' ? 1 : together } = step;
  const shared = Math.min(together, batchSize);
  const calls = by === 'part' ? 0 : 1 / shared;
  const ofQueue = usage.sends + (by === 'queue' ? 2 : 0);
  const gigabytes = (step.memoryMegabytes ?? memoryOfOthers) / 1024;
  const once: Counts = {
    apiRequest: by === 'request' ? 1 : 0,
    call: calls,
    gigabyteSecond: (gigabytes * durationOf(step)) / 1000 / shared,
    readUnit: usage.rcu,
    writeUnit: usage.wcu + usage.indexWcu,
    queueRequest: ofQueue / shared,
    keyUse: usage.keyUses,
    key: 0,
    logGigabyte: usage.logBytes + (by === 'request' ? accessBytes : 0),
    alarmMetric: 0,
    customMetric: 0,
  };
  return mapCounts((name) => once[name] * times);
}

/** What is paid for all of some steps. */
export function sumOf(steps: readonly Step[], together = 1): Counts {
  const each = steps.map((step) => countsOf(step, together));
  return mapCounts((name) => each.reduce((sum, counts) => sum + counts[name], 0));
}

/** What something costs, in dollars. */
export function dollarsOf(counts: Counts, { free = false } = {}): number {
  return priceNames.reduce((sum, name) => sum + costOf(name, counts[name], { free }), 0);
}

/** What so many of the same cost: a million, unless told otherwise. */
export function perMillion(steps: readonly Step[], together = 1): number {
  return dollarsOf(sumOf(steps, together)) * 1e6;
}

/** The names of all prices. */
export const priceNames = Object.keys(prices) as PriceName[];

function mapCounts(countOf: (name: PriceName) => number): Counts {
  return Object.fromEntries(priceNames.map((name) => [name, countOf(name)])) as Counts;
}
