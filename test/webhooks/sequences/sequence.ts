import { fc } from '../../seeded.ts';
import type { Strike } from './calls.ts';

/** How a receiver answers: at once with 204 or 500, with 204 after 3 s, or not within 10 s. */
export type ReceiverMode = 'healthy' | 'failing' | 'slow' | 'hanging';

/**
 * What happens to a deployment: some milliseconds after the step before, at once, or as soon as that step is answered, while
 * other calls are still made. `webhook` counts from 0. All webhooks are subscribed to the events without a name, the second one
 * also to `task.completed`.
 */
export type Step = { after: number | 'at once' | 'answer' } & (
  | { does: 'publish'; events: number; event?: 'task.completed' }
  | {
      does: 'pause' | 'resume' | 'pause and resume' | 'patch' | 'rotate' | 'recover' | 'cancel' | 'delete';
      webhook: number;
    }
  | { does: 'redeliver'; webhook: number; event: number }
  | { does: 'set rate'; webhook: number; maxPerSecond: number | null }
  | { does: 'set receiver'; webhook: number; mode: ReceiverMode }
  /** One of the next calls of the table or of a queue fails, or its process dies. */
  | ({ does: 'strike' } & Strike)
  /** All processes end; `stop` ends the one of the local service by Ctrl-C. */
  | { does: 'crash' | 'stop' }
  /** The last changes of the stream come again; the local service reads them at its next start. */
  | { does: 'publish again' }
  /** A queue of AWS moves a message to the dead letters, or delivers one twice; an operator redrives the dead letters. */
  | { does: 'lose' | 'duplicate' | 'redrive' }
  /** The sweeper runs now, and not only at its next regular time. */
  | { does: 'sweep' }
  /** The clock of the local service is set. The clocks of AWS do not step. */
  | { does: 'step clock'; seconds: number }
);

/** A deployment with its webhooks, and the steps that happen to it. */
export type Sequence = {
  deployment: 'aws' | 'local';
  /** Decides in which order concurrent calls are carried out. */
  order: number;
  /** The maximum rate of each webhook at the start. */
  rates: (number | null)[];
  steps: Step[];
};

const minuteMs = 60_000;

const kind = <Does extends Step['does']>(...names: Does[]) => fc.constantFrom(...names);
const webhook = fc.constantFrom(0, 0, 0, 1);
const mode = (...modes: ReceiverMode[]) => fc.constantFrom(...modes);
const minutes = fc.constantFrom(5, 16, 31, 121).map((number) => number * minuteMs);

/** Steps without their times. */
const steps = {
  publish: fc.record({ does: kind('publish'), events: fc.constantFrom(1, 1, 2, 4, 8) }),
  other: fc.record({ does: kind('publish'), events: fc.constant(2), event: fc.constant('task.completed' as const) }),
  some: fc.record({ does: kind('publish'), events: fc.constantFrom(3, 6, 9) }),
  burst: fc.record({ does: kind('publish'), events: fc.constantFrom(20, 30, 40) }),
  crowd: fc.record({ does: kind('publish'), events: fc.constantFrom(50, 100) }),
  pause: fc.record({ does: kind('pause', 'resume'), webhook }),
  blink: fc.record({ does: kind('pause and resume'), webhook }),
  patch: fc.record({ does: kind('patch', 'rotate'), webhook }),
  recover: fc.record({ does: kind('recover'), webhook }),
  cancel: fc.record({ does: kind('cancel'), webhook }),
  redeliver: fc.record({ does: kind('redeliver'), webhook, event: fc.nat(7) }),
  remove: fc.record({ does: kind('delete'), webhook }),
  rate: fc.record({ does: kind('set rate'), webhook, maxPerSecond: fc.constantFrom(null, 1, 1, 2, 5, 50, 1_000) }),
  answer: fc.record({ does: kind('set receiver'), webhook, mode: mode('healthy', 'failing', 'failing') }),
  fail: fc.record({ does: kind('set receiver'), webhook, mode: mode('failing') }),
  hang: fc.record({ does: kind('set receiver'), webhook, mode: mode('healthy', 'slow', 'hanging') }),
  stall: fc.record({ does: kind('set receiver'), webhook, mode: mode('slow', 'hanging') }),
  strike: fc.record({
    does: kind('strike'),
    how: fc.constantFrom<Strike['how']>('dies', 'dies', 'fails', 'throttles'),
    when: fc.constantFrom<Strike['when']>('before', 'half', 'after'),
    calls: fc.nat(25),
  }),
  end: fc.record({ does: kind('crash', 'crash', 'stop') }),
  queue: fc.record({ does: kind('lose', 'lose', 'duplicate', 'publish again') }),
  lose: fc.record({ does: kind('lose') }),
  redrive: fc.record({ does: kind('redrive') }),
  sweep: fc.record({ does: kind('sweep') }),
  // No step leads back to the very millisecond of an event: a redelivery of that time would have the id of the first attempt.
  clock: fc.record({ does: kind('step clock'), seconds: fc.constantFrom(-5.003, 5, -65.003, 65, -3_600.003, 3_600) }),
  leap: fc.record({ does: kind('step clock'), seconds: fc.constantFrom(65, 3_600, 28_800) }),
  slip: fc.record({ does: kind('step clock'), seconds: fc.constantFrom(-0.203, -1.503, -5.003) }),
};

/** When steps follow each other: among the calls of other steps, within seconds, or by the times of the retry schedule. */
const now = fc.constantFrom('at once' as const, 'answer' as const);
const times = {
  now: fc.oneof({ weight: 4, arbitrary: now }, { weight: 3, arbitrary: fc.constantFrom(10, 1_000, 6_000) }),
  soon: fc.oneof(
    { weight: 2, arbitrary: now },
    { weight: 5, arbitrary: fc.constantFrom(10, 500, 2_000, 5_000, 8_000) },
  ),
  // A receiver that fails answers after 20 ms, so the retries of a step are due in this moment.
  retries: fc.oneof(
    { weight: 4, arbitrary: now },
    { weight: 2, arbitrary: fc.constantFrom(5 * minuteMs + 20, 30 * minuteMs + 20) },
  ),
  // A retry can be replaced from half a minute after the attempt before to a quarter of one before it is due.
  replaced: fc.oneof(
    { weight: 3, arbitrary: now },
    { weight: 4, arbitrary: fc.constantFrom(10, 1_000, 31_000, 60_000) },
    { weight: 1, arbitrary: fc.constantFrom(270_000, 284_000, 5 * minuteMs + 20) },
  ),
  // A first attempt counts as lost two minutes after it was due; the sweeper looks for it up to eight minutes after.
  lost: fc.oneof(
    { weight: 4, arbitrary: now },
    { weight: 2, arbitrary: fc.constantFrom(1_000, 30_000, 130_000, 200_000) },
  ),
  later: fc.oneof(
    { weight: 3, arbitrary: now },
    { weight: 5, arbitrary: fc.constantFrom(10, 1_000, 6_000, 20_000, 65_000, 100_000) },
    { weight: 1, arbitrary: minutes },
  ),
};

/** Returns sequences in which each kind of step has a weight. */
function sequenceOf(
  time: keyof typeof times,
  weights: Partial<Record<keyof typeof steps, number>>,
  {
    webhooks = 2,
    rates = [null, null, 1, 1, 5],
    deployments = ['local', 'aws'],
  }: { webhooks?: number; rates?: (number | null)[]; deployments?: Sequence['deployment'][] } = {},
) {
  const weighted = Object.entries(weights).map(([name, weight]) => ({
    weight,
    arbitrary: steps[name as keyof typeof steps] as fc.Arbitrary<object>,
  }));
  const step = fc.tuple(times[time], fc.oneof(...weighted)).map(([after, rest]) => ({ after, ...rest }) as Step);
  return fc
    .record<Sequence>({
      deployment: fc.constantFrom(...deployments),
      order: fc.nat(),
      rates: fc.array(fc.constantFrom(...rates), { minLength: 1, maxLength: webhooks }),
      steps: fc.array(step, { minLength: 4, maxLength: 15 }).map(withOneBurst).map(withFewLosses),
    })
    .map((all) =>
      all.deployment === 'local' ? all : { ...all, steps: all.steps.filter(({ does }) => does !== 'step clock') },
    );
}

/** Returns steps of which only the first burst has many events: more of them take time and find nothing else. */
function withOneBurst(all: Step[]): Step[] {
  let isFirst = true;
  return all.map((step) => {
    if (step.does !== 'publish' || step.events < 20) return step;
    const events = isFirst ? step.events : 1;
    isFirst = false;
    return { ...step, events };
  });
}

/** How many messages a sequence loses at most: the checks of events come later and later while they find the same loss again. */
const mostLosses = 4;

function withFewLosses(all: Step[]): Step[] {
  let losses = 0;
  return all.filter(({ does }) => does !== 'lose' || ++losses <= mostLosses);
}

/** Sequences of all kinds of steps, with their weights. Most of them are about a few kinds that affect each other. */
const profiles: [number, fc.Arbitrary<Sequence>][] = [
  [4, sequenceOf('now', { some: 5, pause: 3, blink: 5 }, { rates: [1, 1, 5, null] })],
  [4, sequenceOf('soon', { some: 3, pause: 5, hang: 1, end: 2 }, { webhooks: 1, rates: [1, 1, 5, null] })],
  // What a pause has held back runs when the process ends.
  [2, sequenceOf('soon', { some: 3, pause: 5, stall: 2, end: 3, sweep: 1 }, { webhooks: 1, rates: [1, 5, null] })],
  [4, sequenceOf('later', { publish: 4, end: 3, strike: 4, answer: 2, hang: 1, queue: 3 })],
  // Attempts take the place of retries: of a caller, and of recoveries that are cancelled.
  [
    4,
    sequenceOf('replaced', { publish: 3, fail: 3, answer: 3, redeliver: 4, recover: 3, cancel: 3, pause: 1, end: 1 }),
  ],
  [4, sequenceOf('soon', { publish: 4, pause: 4, recover: 4, redeliver: 1, answer: 1, queue: 3, strike: 2, end: 1 })],
  [
    2,
    sequenceOf(
      'lost',
      { publish: 3, other: 1, lose: 4, redrive: 1, redeliver: 3, recover: 3 },
      { deployments: ['aws'] },
    ),
  ],
  [4, sequenceOf('retries', { some: 3, pause: 2, blink: 5, fail: 2 }, { webhooks: 1, rates: [null, null, 1] })],
  [1, sequenceOf('soon', { publish: 3, burst: 2, rate: 4, pause: 2, answer: 2 })],
  [1, sequenceOf('soon', { publish: 1, crowd: 1, rate: 2, answer: 2, sweep: 1 })],
  // Attempts book times by a clock that is set back before these are over.
  [
    1,
    sequenceOf('soon', { publish: 2, burst: 2, clock: 3, end: 1 }, { webhooks: 1, rates: [1], deployments: ['local'] }),
  ],
  // Attempts miss the times that they have booked.
  [
    1,
    sequenceOf('soon', { publish: 2, burst: 3, leap: 3, end: 1 }, { webhooks: 1, rates: [1], deployments: ['local'] }),
  ],
  // Changes between steps that follow each other at once.
  [2, sequenceOf('now', { publish: 4, slip: 4 }, { deployments: ['local'] })],
  [
    6,
    sequenceOf('later', {
      ...{
        publish: 5,
        other: 1,
        pause: 3,
        blink: 1,
        patch: 2,
        recover: 2,
        cancel: 1,
        redeliver: 2,
        remove: 1,
        rate: 2,
      },
      ...{ answer: 2, hang: 2, strike: 2, end: 1, queue: 2, redrive: 1, clock: 2 },
    }),
  ],
];
export const sequence = fc.oneof(...profiles.map(([weight, arbitrary]) => ({ weight, arbitrary })));
