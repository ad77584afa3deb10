import { describe, expect, it } from 'vitest';
import { timestamp, ulidFrom } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { readRetrySchedule } from '../../../lib/settings/retry-schedule.ts';
import type { FoundAttempt } from '../../../lib/table/deliveries/attempt-log.ts';
import type { Target } from '../../../lib/table/webhooks/webhooks.ts';
import { type Circumstances, decide } from '../../../lib/webhooks/attempts/decide-attempt.ts';
import { startTime } from '../test-webhooks.ts';

const secondMs = 1_000;
const hourMs = 3_600_000;

/** Returns the time of some seconds after the event, in ISO 8601. */
const at = (seconds: number) => timestamp(startTime + seconds * secondMs);

/** An attempt to decide about: what differs from one that is made now. */
type Case = {
  message?: Partial<DeliveryMessage>;
  target?: Partial<Target> | null;
  found?: Partial<FoundAttempt>;
  logTime?: number;
  isKnownSlow?: boolean;
  /** The seconds since the event. */
  after?: number;
};

/** The first attempt of an event, due at its time. The end of its id is 0. */
const first: DeliveryMessage = {
  organization: 'acme' as Organization,
  webhookId: `wh_${ulidFrom(startTime - hourMs, new Uint8Array(10))}`,
  deliveryId: `dlv_${ulidFrom(startTime, new Uint8Array(10))}`,
  eventId: `ev_${ulidFrom(startTime, new Uint8Array(10))}`,
  attempt: 1,
  dueAt: at(0),
};

const retry = { attempt: 2, listedBy: 'A#1' };

function decided({ message, target, found, logTime, isKnownSlow = false, after = 1 }: Case) {
  const received = { ...first, ...message };
  const stored = {
    made: false,
    superseded: false,
    target: target === null ? undefined : { url: 'https://example.com', slow: false, slowLeases: {}, ...target },
    loggedEvent: { event: 'task.created', data: '{}', ...(logTime !== undefined && { logTime }) },
    ...found,
  } as FoundAttempt;
  const circumstances: Circumstances = {
    now: startTime + after * secondMs,
    retrySchedule: readRetrySchedule(undefined),
    slowLeases: 3,
    isKnownSlow,
  };
  const {
    target: _,
    loggedEvent,
    ...decision
  } = { target: 0, loggedEvent: 0, ...decide(stored, received, circumstances) };
  return decision;
}

/** Returns what is decided, with the fields of the message that differ from the received one. */
function changesOf(one: Case) {
  const { message, ...decision } = decided(one);
  const received: Record<string, unknown> = { ...first, ...one.message };
  const names = new Set([...Object.keys(received), ...Object.keys(message)]);
  const sent = message as Record<string, unknown>;
  const changed = [...names].filter((name) => sent[name] !== received[name]).map((name) => [name, sent[name]]);
  return changed.length > 0 ? { ...decision, changed: Object.fromEntries(changed) } : decision;
}

const dropped = { kind: 'drop', unlists: true };
const keptListed = { kind: 'drop', unlists: false };
const made = { kind: 'attempt' };
const again = (seconds: number, changed?: object) => ({
  kind: 'sendAgain',
  notBefore: startTime + seconds * secondMs,
  ...(changed && { changed }),
});
const parked = (from: number) => ({ kind: 'park', pausedFrom: at(from) });
const lease = (number: number | undefined) => ({ kind: 'lease', number });
const found = { changed: { parked: true } };

const pauses = (...times: [from: number, until?: number][]) => ({
  pauses: times.map(([from, until]) => ({ from: at(from), ...(until !== undefined && { until: at(until) }) })),
});
const leasesUntil = (...seconds: number[]) => ({
  slowLeases: Object.fromEntries(seconds.map((until, number) => [number, at(until)])),
});

/** Checks rows of a table: what an attempt is, and what is decided about it. */
function expectDecisions(rows: [words: string, one: Case, decision: object][]): void {
  it.each(rows)('%s', (_, one, decision) => {
    expect(changesOf(one)).toEqual(decision);
  });
}

describe('an attempt', () => {
  expectDecisions([
    ['is made', {}, made],
    ['is made if it is a retry', { message: retry }, made],
    [
      'is dropped if another one has replaced it, and the row that lists that one stays',
      { found: { superseded: true } },
      keptListed,
    ],
    ['is dropped so although it was made', { found: { superseded: true, made: true } }, keptListed],
    [
      'is dropped so although a pause has ended since',
      { found: { superseded: true }, target: pauses([0.1, 0.2]) },
      keptListed,
    ],
    ['is dropped if it was made', { found: { made: true } }, dropped],
    ['is dropped if its webhook is deleted', { target: null }, dropped],
    ['is dropped if its event has expired', { found: { loggedEvent: undefined } }, dropped],
    [
      'is dropped if it was made, whatever else applies',
      { found: { made: true }, message: { ...retry, dueAt: at(9) }, target: { ...pauses([0]), slow: true } },
      dropped,
    ],
    [
      'is dropped with the item that a pause may have left',
      { found: { made: true }, target: pauses([0.1, 0.2]) },
      { ...dropped, ...found },
    ],
    ['is dropped with the item that it names', { found: { made: true }, message: { parked: true } }, dropped],
  ]);
});

describe('an attempt that is not due', () => {
  expectDecisions([
    ['is sent again for its time', { message: { ...retry, dueAt: at(1.001) } }, again(1.001)],
    ['is made at its time', { message: { ...retry, dueAt: at(1) } }, made],
    ['is made if it is the first one: the clock is behind', { message: { dueAt: at(30) } }, made],
    ['waits for its step', { message: { ...retry, dueAt: at(361) } }, again(361)],
    ['is made if a clock that was ahead has set its time', { message: { ...retry, dueAt: at(361.001) } }, made],
    ['waits for the longer step of its number', { message: { ...retry, attempt: 3, dueAt: at(1_861) } }, again(1_861)],
    ['is not parked in a pause', { message: { ...retry, dueAt: at(100) }, target: pauses([0.5]) }, again(100)],
    ['stays in the queue of slow webhooks', { message: { ...retry, dueAt: at(100), slow: true } }, again(100)],
  ]);
});

describe('in a pause', () => {
  expectDecisions([
    ['the first attempt of an event from before it is parked', { target: pauses([0.001]) }, parked(0.001)],
    ['a retry is parked, also of an event of the pause', { message: retry, target: pauses([-5]) }, parked(-5)],
    ['a redelivery is parked', { message: { ...retry, redelivery: true }, target: pauses([-5]) }, parked(-5)],
    [
      'a first attempt that a caller has requested is parked',
      { message: { redelivery: true }, target: pauses([-5]) },
      parked(-5),
    ],
    [
      'the retry of an attempt of a recovery is parked',
      { message: { ...retry, scheduleStart: 1 }, target: pauses([-5]) },
      parked(-5),
    ],
    [
      'the first attempt of a recovery is left to it',
      { message: { scheduleStart: 1 }, target: pauses([-5]) },
      keptListed,
    ],
    ['so is one with a later number', { message: { ...retry, scheduleStart: 2 }, target: pauses([-5]) }, keptListed],
    ['an attempt that is just late is parked', { target: pauses([5]), after: 70 }, parked(5)],
    [
      'an attempt of a slow webhook is parked',
      { message: { slow: true }, target: { ...pauses([0.5]), slow: true } },
      parked(0.5),
    ],
    ['the latest pause counts', { message: retry, target: pauses([-9, -8], [0.5]) }, parked(0.5)],
    ['an event of it waits until the pause cannot have ended before', { target: pauses([0]) }, again(90)],
    ['an event of it is skipped then', { target: pauses([0]), after: 90 }, dropped],
    [
      'an event of it by the clock of the log is skipped',
      { target: pauses([50]), logTime: startTime + 60_000, after: 100 },
      dropped,
    ],
    [
      'an event from before it by that clock is parked',
      { target: pauses([0]), logTime: startTime - 1, after: 100 },
      parked(0),
    ],
  ]);
});

describe('after a pause', () => {
  expectDecisions([
    ['an event of it is skipped at once', { target: pauses([-5, 0.5]) }, { ...dropped, ...found }],
    [
      'an event of it is skipped at once in a later pause',
      { target: pauses([-5, 0.5], [0.7]) },
      { ...dropped, ...found },
    ],
    ['an event of its end is not', { target: pauses([-5, 0]) }, made],
    [
      'an attempt is made that was due before its end, with the item that the pause may have left',
      { target: pauses([0.1, 0.5]) },
      { ...made, ...found },
    ],
    [
      'an attempt is made that was due after it',
      { message: { ...retry, dueAt: at(0.5) }, target: pauses([0.1, 0.5]) },
      made,
    ],
    [
      'an attempt that a caller has requested is made',
      { message: { scheduleStart: 1 }, target: pauses([-5, -1]) },
      made,
    ],
  ]);
});

describe('an attempt that begins late', () => {
  expectDecisions([
    ['is made until a minute after it was due', { after: 59.999 }, made],
    ['waits from then on', { after: 60 }, again(90)],
    ['waits until no other worker can be making it', { after: 89.999 }, again(90)],
    ['is made then', { after: 90 }, made],
    ['waits in the queue of slow webhooks', { after: 60, message: { slow: true }, target: { slow: true } }, again(90)],
    ['waits by its due time', { after: 400, message: { ...retry, dueAt: at(340) } }, again(430)],
  ]);
});

describe('an attempt that', () => {
  const toSlow = again(1, { slow: true });
  const booked = { bookedAt: at(5), paceVersion: 2 };
  expectDecisions([
    ['needs no lease, from its own queue, is made', {}, made],
    [
      'needs no lease, from that of slow webhooks, goes to its own',
      { message: { slow: true } },
      again(1, { slow: undefined }),
    ],
    [
      'has booked there goes without its time',
      { message: { slow: true, ...booked } },
      again(1, { slow: undefined, bookedAt: undefined, paceVersion: undefined }),
    ],
    ['is to a slow webhook goes to the queue of slow webhooks', { target: { slow: true } }, toSlow],
    ['is to one with a maximum stays in its own queue', { target: { maxPerSecond: 5 } }, made],
    ['is to one with a maximum that is slow goes there', { target: { maxPerSecond: 5, slow: true } }, toSlow],
    ['is to one that this process knows as slow goes there', { isKnownSlow: true }, toSlow],
    ['is to a slow webhook takes a lease there', { message: { slow: true }, target: { slow: true } }, lease(0)],
    [
      'is to one with a maximum goes from there to its own queue',
      { message: { slow: true }, target: { maxPerSecond: 5 } },
      again(1, { slow: undefined }),
    ],
    [
      'is to one that this process knows as slow takes a lease there',
      { message: { slow: true }, isKnownSlow: true },
      lease(0),
    ],
  ]);
});

describe('the lease of an attempt to a slow webhook', () => {
  const slow = (target: Partial<Target>, message: Partial<DeliveryMessage> = {}): Case => ({
    message: { slow: true, ...message },
    target: { slow: true, ...target },
  });
  const idEnding = (end: string) => ({ deliveryId: first.deliveryId.slice(0, -4) + end });
  expectDecisions([
    ['is one that is free', slow(leasesUntil(9, 9)), lease(2)],
    ['is chosen by the id of the delivery', slow({}, idEnding('0001')), lease(1)],
    ['is chosen among those that are free', slow(leasesUntil(9), idEnding('0003')), lease(2)],
    ['can be one that has expired', slow(leasesUntil(9, 1, 9)), lease(1)],
    ['can be one that a clock that was ahead has set', slow(leasesUntil(9, 82, 9)), lease(1)],
    ['is missing if all are taken', slow(leasesUntil(9, 1.001, 81)), lease(undefined)],
    ['does not depend on booked times', slow({ bookedUntil: startTime + hourMs }), lease(0)],
    ['does not depend on the maximum', slow({ maxPerSecond: 1, ...leasesUntil(9, 9) }), lease(2)],
  ]);
});

describe('an attempt at a maximum rate', () => {
  const paced = (target: Partial<Target>, message: Partial<DeliveryMessage> = {}): Case => ({
    message,
    target: { maxPerSecond: 5, ...target },
  });
  const booked = { kind: 'book' };
  const former = { changed: { bookedAt: undefined } };
  expectDecisions([
    ['waits while others have booked', paced({ bookedUntil: startTime + 2_000 }), booked],
    ['is made when no time is booked but for the next second', paced({ bookedUntil: startTime + 1_999 }), made],
    ['waits until a second before its own time', paced({}, { bookedAt: at(2) }), booked],
    [
      'is made from then on, although others have booked after it',
      paced({ bookedUntil: startTime + 9_000 }, { bookedAt: at(1.999) }),
      made,
    ],
    [
      'is made by its own time of the present pace',
      paced({ paceVersion: 2, bookedUntil: startTime + 9_000 }, { bookedAt: at(1), paceVersion: 2 }),
      made,
    ],
    [
      'does not wait for a time of an earlier pace',
      paced({ paceVersion: 2 }, { bookedAt: at(9) }),
      { ...made, ...former },
    ],
    [
      'has no turn by a time of an earlier pace',
      paced({ paceVersion: 2, bookedUntil: startTime + 9_000 }, { bookedAt: at(1), paceVersion: 1 }),
      { ...booked, changed: { bookedAt: undefined, paceVersion: undefined } },
    ],
    [
      'is made at a time at which it is late, if it has booked that: no other worker can be making it in time',
      { ...paced({}, { bookedAt: at(62) }), after: 62 },
      made,
    ],
    [
      'waits until no other worker can be making it, if it has booked a time in time',
      { ...paced({}, { bookedAt: at(59) }), after: 62 },
      again(90),
    ],
    [
      'waits for its turn before it waits for a lease',
      paced({ slow: true, bookedUntil: startTime + 2_000, ...leasesUntil(9, 9, 9) }),
      booked,
    ],
  ]);
});
