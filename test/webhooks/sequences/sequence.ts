import { fc } from '../../seeded.ts';
import type { Strike } from './calls.ts';

/** How a receiver answers: at once with 204 or 500, with 204 after 3 s, or not within 10 s. */
export type ReceiverMode = 'healthy' | 'failing' | 'slow' | 'hanging';

/**
 * What happens to a deployment: some milliseconds after the step before, at once, or as soon as that step is answered, while
 * other calls are still made. `webhook` counts from 0.
 */
export type Step = { after: number | 'at once' | 'answer' } & (
  | { does: 'publish'; events: number }
  | { does: 'pause' | 'resume' | 'pause and resume' | 'patch' | 'recover' | 'delete'; webhook: number }
  | { does: 'redeliver'; webhook: number; event: number }
  | { does: 'set rate'; webhook: number; maxPerSecond: number | null }
  | { does: 'set receiver'; webhook: number; mode: ReceiverMode }
  /** One of the next calls of the table or of a queue fails, or its process dies. */
  | ({ does: 'strike' } & Strike)
  /** All processes end; `stop` ends the one of the local service by Ctrl-C. */
  | { does: 'crash' | 'stop' }
  /** The last changes of the stream come again; the local service reads them at its next start. */
  | { does: 'publish again' }
  /** A queue of AWS moves a message to the dead letters, or delivers one twice. */
  | { does: 'lose' | 'duplicate' }
  /** The clock of the local service is set. Those of AWS do not step. */
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
  some: fc.record({ does: kind('publish'), events: fc.constantFrom(3, 6, 9) }),
  burst: fc.record({ does: kind('publish'), events: fc.constantFrom(20, 30, 40) }),
  crowd: fc.record({ does: kind('publish'), events: fc.constantFrom(50, 100) }),
  pause: fc.record({ does: kind('pause', 'resume'), webhook }),
  blink: fc.record({ does: kind('pause and resume'), webhook }),
  patch: fc.record({ does: kind('patch'), webhook }),
  recover: fc.record({ does: kind('recover'), webhook }),
  redeliver: fc.record({ does: kind('redeliver'), webhook, event: fc.nat(7) }),
  remove: fc.record({ does: kind('delete'), webhook }),
  rate: fc.record({ does: kind('set rate'), webhook, maxPerSecond: fc.constantFrom(null, 1, 1, 2, 5, 50) }),
  answer: fc.record({ does: kind('set receiver'), webhook, mode: mode('healthy', 'failing', 'failing') }),
  fail: fc.record({ does: kind('set receiver'), webhook, mode: mode('failing') }),
  hang: fc.record({ does: kind('set receiver'), webhook, mode: mode('healthy', 'slow', 'hanging') }),
  strike: fc.record({
    does: kind('strike'),
    how: fc.constantFrom<Strike['how']>('dies', 'dies', 'fails', 'throttles'),
    when: fc.constantFrom<Strike['when']>('before', 'half', 'after'),
    calls: fc.nat(25),
  }),
  end: fc.record({ does: kind('crash', 'crash', 'stop') }),
  queue: fc.record({ does: kind('lose', 'lose', 'duplicate', 'publish again') }),
  clock: fc.record({ does: kind('step clock'), seconds: fc.constantFrom(-5, 5, -65, 65, -3_600, 3_600) }),
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
  { webhooks = 2, rates = [null, null, 1, 1, 5] }: { webhooks?: number; rates?: (number | null)[] } = {},
) {
  const weighted = Object.entries(weights).map(([name, weight]) => ({
    weight,
    arbitrary: steps[name as keyof typeof steps] as fc.Arbitrary<object>,
  }));
  const step = fc.tuple(times[time], fc.oneof(...weighted)).map(([after, rest]) => ({ after, ...rest }) as Step);
  return fc
    .record<Sequence>({
      deployment: fc.constantFrom('local' as const, 'aws' as const),
      order: fc.nat(),
      rates: fc.array(fc.constantFrom(...rates), { minLength: 1, maxLength: webhooks }),
      steps: fc.array(step, { minLength: 4, maxLength: 15 }).map(withOneBurst),
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

/** Sequences of all kinds of steps. Most of them are about a few kinds that affect each other. */
const profiles = [
  sequenceOf('now', { some: 5, pause: 3, blink: 5 }, { rates: [1, 1, 5, null] }),
  sequenceOf('soon', { some: 3, pause: 5, hang: 1, end: 2 }, { webhooks: 1, rates: [1, 1, 5, null] }),
  sequenceOf('later', { publish: 4, end: 3, strike: 4, answer: 2, hang: 1, queue: 3 }),
  sequenceOf('soon', { publish: 4, pause: 4, recover: 4, redeliver: 1, answer: 1, queue: 3, strike: 2, end: 1 }),
  sequenceOf('retries', { some: 3, pause: 2, blink: 5, fail: 2 }, { webhooks: 1, rates: [null, null, 1] }),
  sequenceOf('soon', { publish: 3, burst: 2, rate: 4, pause: 2, answer: 2 }),
  sequenceOf('soon', { publish: 1, crowd: 1, rate: 2, answer: 2 }),
  sequenceOf('later', {
    ...{ publish: 6, pause: 3, blink: 1, patch: 1, recover: 2, redeliver: 2, remove: 1, rate: 2, answer: 2, hang: 2 },
    ...{ strike: 2, end: 1, queue: 2, clock: 2 },
  }),
];
export const sequence = fc.oneof(
  ...profiles.slice(0, 5).map((arbitrary) => ({ weight: 4, arbitrary })),
  ...profiles.slice(5, 7).map((arbitrary) => ({ weight: 1, arbitrary })),
  ...profiles.slice(7).map((arbitrary) => ({ weight: 6, arbitrary })),
);
