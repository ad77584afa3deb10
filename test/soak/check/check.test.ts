import { expect, it } from 'vitest';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import type { ExecutionHead } from '../../../lib/table/executions/execution-items.ts';
import type { StoredTask } from '../../../lib/table/tasks/task-items.ts';
import { type ClockStep, trueTimeOf, trueTimesOf } from '../clock/service-clock.ts';
import type { Interruption } from '../plan.ts';
import { check } from './check.ts';
import { attemptsOf, type Evidence, isAtFault } from './evidence.ts';
import { exceededRates, type Fate, fateOf, type Rated } from './webhook-rules.ts';

const task = { id: 'tk_1', status: 'backlog', version: 1 } as StoredTask;
const execution = { id: 'ex_1', status: 'completed', claims: 1 } as ExecutionHead;
const deliveries = { wrong: [], ends: { delivered: 1 }, latestMs: 0, posts: 2 };

const fate = { webhookId: 'wh_1', name: 'task.created tk_1 backlog', fate: 'delivered' as Fate, posts: 2 };
const noStep: ClockStep = { at: 0, aheadMs: 0 };

/** A webhook that may have two attempts in a second from 10 s on, and that got as many in each from 40 s on. */
const rated: Rated = {
  webhookId: 'wh_1',
  begins: [40_000, 40_500, 41_000, 41_500],
  rates: [{ sentAt: 9_000, answeredAt: 10_000, maxPerSecond: 2 }],
};

/** Evidence of a task that was created, and of an execution that has ended. */
const whole: Evidence = {
  ledger: {
    tasks: new Map([[task.id, { statuses: ['backlog'], version: 1 }]]),
    events: 1,
    executions: new Set([execution.id]),
  },
  ...{ executions: [execution], tasks: [task], deliveries, differences: [], underWay: [], due: [] },
  ...{ happened: ['task.created tk_1 backlog'], logged: ['task.created tk_1 backlog'] },
  followed: ['task.created tk_1 backlog'],
  ...{ fates: [fate], rated: [rated], steps: [noStep] },
};

it('finds no fault where there is none', () => {
  const counts = {
    logged: 1,
    executions: { completed: 1 },
    deliveries: { delivered: 1 },
    posts: 2,
    fates: { delivered: 1 },
  };
  expect(check(whole)).toEqual({ lost: [], ...counts });
});

it.each<[string, Partial<Evidence>, RegExp]>([
  ['a task that is gone', { tasks: [] }, /was created and does not exist/],
  ['a change that is gone', { tasks: [{ ...task, version: 2 }] }, /was backlog in version 1 .* version 2/],
  ['an unknown task', { tasks: [task, { ...task, id: 'tk_2' }] }, /no response has named it/],
  ['an execution that is gone', { executions: [] }, /was started and does not exist/],
  ['an unknown execution', { executions: [execution, { ...execution, id: 'ex_2' }] }, /has named it/],
  ['an execution that runs', { executions: [{ ...execution, status: 'running' }] }, /is still running/],
  [
    'an execution that is lost too soon',
    { executions: [{ ...execution, status: 'failed', error: 'lost' }] },
    /has failed \(lost\) after 1 leases/,
  ],
  ['an event that the log does not have', { logged: [] }, /happened 1 times and is 0 times in the event log/],
  ['an event that the log has twice', { logged: Array(2).fill(whole.logged[0]) }, /happened 1 times and is 2 times/],
  ['an event in the log that did not happen', { happened: [] }, /happened 0 times and is 1 times/],
  ['a list that miscounts', { differences: ['a counter'] }, /a counter differs/],
  ['an entry left in the due index', { due: ['an entry'] }, /an entry is still in the due index/],
  [
    'an attempt that the service misses',
    { underWay: [{ deliveryId: 'dlv_1', attempt: 2 } as DeliveryMessage] },
    /attempt 2 of dlv_\w+ is missing/,
  ],
  ['an event that no follower has seen', { followed: [] }, /has not seen it/],
  [
    'an event of a pause that was sent',
    { fates: [{ ...fate, fate: 'skipped' }] },
    /tk_1 backlog happened in a pause of wh_1 and was sent/,
  ],
  [
    'an event of no pause that was not sent',
    { fates: [{ ...fate, posts: 0 }] },
    /tk_1 backlog happened in no pause of wh_1 and was not sent/,
  ],
  [
    'a second with too many attempts',
    { rated: [{ ...rated, begins: [...rated.begins, 40_999] }] },
    /^3 attempts to wh_1 began in the second from 40000, at most 2 were allowed\n.* from 40500, .*\n.* from 40999, /,
  ],
  ['a wrong delivery', { deliveries: { ...deliveries, wrong: ['dlv_1 waits'] } }, /dlv_1 waits/],
])('finds %s', (_, different, words) => {
  expect(check({ ...whole, ...different }).lost.join('\n')).toMatch(words);
});

it.each<[boolean, string, Interruption[]]>([
  [false, 'nothing interrupted it', []],
  [true, 'the service was killed during its record', [{ from: 9_500, to: 12_000 }]],
  [false, 'the service was killed before it', [{ from: 7_000, to: 8_999 }]],
  [false, 'the service was killed long after it', [{ from: 15_000, to: 16_000 }]],
])('whether a post may have no record is %s if %s', (expected, _, interruptions) => {
  expect(isAtFault({ sentAt: 9_000, endedAt: 9_000 }, { interruptions })).toBe(expected);
});

const pauses = [{ from: { sentAt: 1_000, answeredAt: 2_000 }, until: { sentAt: 5_000, answeredAt: 6_000 } }];

it.each<[Fate, string, number[]]>([
  ['delivered', 'before or after a pause', [900, 6_100]],
  ['skipped', 'in a pause', [2_100, 4_900]],
  ['either', 'while a request begins or ends a pause', [1_000, 1_500, 2_000, 5_000, 5_500, 6_000]],
])('an event is %s that happened %s', (fate, _, times) => {
  expect(times.map((time) => fateOf(time, pauses, [noStep]))).toEqual(times.map(() => fate));
});

it('an event can have either end whose time stamp the clock had both in a pause and after it', () => {
  const stepsBack = [noStep, { at: 8_000, aheadMs: -5_000 }];
  const stampedTwice = [4_000, 8_000 - 5_000, 7_900];
  expect(stampedTwice.map((time) => trueTimesOf(time, stepsBack))).toEqual([
    [4_000, 9_000],
    [3_000, 8_000],
    [7_900, 12_900],
  ]);
  expect(stampedTwice.map((time) => fateOf(time, pauses, stepsBack))).toEqual(['either', 'either', 'delivered']);
  expect(fateOf(2_500, pauses, stepsBack)).toBe('skipped');
  expect(trueTimesOf(-4_000, [noStep, { at: 8_000, aheadMs: -13_000 }])).toEqual([9_000]);
  expect(trueTimesOf(9_000, [noStep, { at: 7_000, aheadMs: 1_000 }, { at: 8_500, aheadMs: 0 }], 8_800)).toEqual([
    8_000,
  ]);
  expect(trueTimeOf(4_000, stepsBack, 9_002)).toBe(9_000);
  expect(trueTimeOf(4_000, stepsBack, 4_002)).toBe(4_000);
});

it('more attempts than the rate may begin while an earlier rate can hold, or when the clock steps', () => {
  const three = { ...rated, begins: [39_000, 39_100, 39_200] };
  const raised = { sentAt: 9_500, answeredAt: 10_000, maxPerSecond: 5 };
  const excess = (rates: Rated['rates'], steps = [noStep]) => exceededRates({ ...three, rates }, steps).length;
  expect(excess([])).toBe(0);
  expect(excess([{ ...raised, maxPerSecond: 2 }])).toBe(0);
  const early = { sentAt: 0, answeredAt: 0, maxPerSecond: 2 };
  expect(excess([early])).toBe(1);
  expect(excess([early, raised, { ...early, sentAt: 10_000, answeredAt: 10_000 }])).toBe(0);
  expect(excess([early], [noStep, { at: 39_500, aheadMs: 5_000 }])).toBe(0);
});

it('an execution may fail by a limit of time if only a step of the clock has made it so long', () => {
  const failed = { ...execution, status: 'failed', error: 'deadline', startedAt: '2020-03-01T12:00:00.000Z' } as const;
  const late = { ...failed, completedAt: '2020-03-01T13:00:05.000Z' };
  const steppedAt = Date.parse(failed.startedAt) + 1_000;
  const lost = (one: typeof execution, steps: ClockStep[]) => check({ ...whole, executions: [one], steps }).lost;
  expect(lost(late, [noStep, { at: steppedAt, aheadMs: 3_600_000 }])).toEqual([]);
  const backAgain = { ...failed, completedAt: '2020-03-01T12:00:05.000Z' };
  const hour = { at: steppedAt, aheadMs: 3_600_000 };
  expect(lost(backAgain, [noStep, hour, { at: steppedAt + 2_000, aheadMs: 0 }])).toEqual([]);
  expect(lost(backAgain, [noStep, { ...hour, aheadMs: 5_000 }])).toHaveLength(1);
  expect(lost(late, [noStep])).toEqual([expect.stringMatching(/has failed \(deadline\)/)]);
  expect(lost({ ...failed, completedAt: '2020-03-01T12:05:00.000Z' }, [noStep])).toHaveLength(1);
});

it('two posts of one body are one attempt, a third one is another, and so is a later body', () => {
  const post = { deliveryId: 'dlv_1', name: 'n', occurredAt: 0, stampedAt: 1, sentAt: 1, endedAt: 2 };
  const later = { ...post, stampedAt: 9, sentAt: 9, endedAt: 10 };
  const other = { ...post, deliveryId: 'dlv_2' };
  const again = { ...post, endedAt: 3 };
  expect(attemptsOf([post, again, other, later])).toEqual([again, other, later]);
  expect(attemptsOf([post, again, post])).toEqual([again, post]);
});
