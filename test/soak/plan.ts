import { between, oneOf, type Random, randomFrom } from './random.ts';

/** A fault of the service's process. */
export type ProcessFault = { kind: 'kill -9' } | { kind: 'kill -STOP'; forMs: number };

/** A time in which the service did not run: it was killed and started again, or stopped. */
export type Interruption = { from: number; to: number };

/** A fault of a receiver: of its next requests, or of all for some time. */
export type ReceiverFault = { receiver: number } & (
  | { kind: 'receiver down'; forMs: number }
  | { kind: 'receiver resets' | 'receiver hangs up' | 'receiver hangs' | 'receiver slow'; requests: number }
);

/** A change of a receiver's webhook by its user: a pause that ends after some time, or another maximum rate. */
export type WebhookFault = { receiver: number } & (
  | { kind: 'webhook paused'; forMs: number }
  | { kind: 'rate changed'; maxPerSecond: number | null }
);

/** A step of the service's clock, which is taken back after some time if it is a long one. */
export type ClockFault = { kind: 'clock stepped'; byMs: number; backAfterMs?: number };

/** A fault from outside: the service itself is not changed for it. */
export type Fault = ProcessFault | ReceiverFault | WebhookFault | ClockFault;

export type Planned = { after: number; fault: Fault };

export type FaultKind = Fault['kind'];

export type Asked = { seed: number; events: number; faults: number };

/** The share of each kind, in percent of the faults. There is at least one of each. */
const shares: Record<FaultKind, number> = {
  'kill -9': 25,
  'kill -STOP': 5,
  'webhook paused': 15,
  'rate changed': 15,
  'clock stepped': 10,
  'receiver down': 5,
  'receiver resets': 5,
  'receiver hangs up': 5,
  'receiver hangs': 5,
  'receiver slow': 10,
};

/** The kinds that only their shares add. */
const limitedKinds: readonly FaultKind[] = ['kill -9', 'kill -STOP', 'webhook paused'];

/** The maximum of pauses for each webhook, on average. The service allows 50 in 90 days. */
const pausesOfEach = 25;

const rates = [1, 2, 5, 20, 50, 1_000, null] as const;

const hourMs = 3_600_000;

/** Plans the faults of a soak: the same for the same seed. */
export function planOf({ seed, events, faults }: Asked, receivers: number): Planned[] {
  const random = randomFrom(seed);
  const kinds = Object.keys(shares) as FaultKind[];
  const some = kinds.flatMap((kind) => {
    const share = Math.max(1, Math.floor((shares[kind] * faults) / 100));
    return Array<FaultKind>(kind === 'webhook paused' ? Math.min(share, pausesOfEach * receivers) : share).fill(kind);
  });
  const others = kinds.filter((kind) => !limitedKinds.includes(kind));
  while (some.length < faults) some.push(oneOf(random, others));
  const moments = some.map(() => between(random, 0, events - 1)).sort((a, b) => a - b);
  const order = some.map((kind) => ({ kind, at: random() })).sort((a, b) => a.at - b.at);
  return order
    .slice(0, faults)
    .map(({ kind }, nth) => ({ after: moments[nth] as number, fault: faultOf(kind, random, receivers) }));
}

function faultOf(kind: FaultKind, random: Random, receivers: number): Fault {
  const receiver = between(random, 0, receivers - 1);
  switch (kind) {
    case 'kill -9':
      return { kind };
    case 'kill -STOP':
      // One in six is longer than a lease of 20 s.
      return { kind, forMs: random() < 1 / 6 ? 21_000 : between(random, 500, 4_000) };
    case 'webhook paused':
      return { kind, receiver, forMs: between(random, 100, 8_000) };
    case 'rate changed':
      return { kind, receiver, maxPerSecond: oneOf(random, rates) };
    case 'clock stepped':
      if (random() >= 1 / 4) return { kind, byMs: between(random, -5_000, 5_000) };
      return { kind, byMs: oneOf(random, [-hourMs, hourMs]), backAfterMs: between(random, 500, 6_000) };
    case 'receiver down':
      return { kind, receiver, forMs: between(random, 1_000, 9_000) };
    case 'receiver hangs':
      return { kind, receiver, requests: between(random, 1, 2) };
    case 'receiver resets':
    case 'receiver hangs up':
    case 'receiver slow':
      return { kind, receiver, requests: between(random, 1, 8) };
  }
}
