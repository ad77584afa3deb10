import { expect, it } from 'vitest';
import type { DeliveryMessage } from '../../lib/deployment/messages.ts';
import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';
import type { StoredTask } from '../../lib/table/tasks/task-items.ts';
import { check } from './check.ts';
import { type Evidence, isAtFault } from './evidence.ts';

const deliveryId = 'dlv_01KDVDMZ0000000000000000D1';
const task = { id: 'tk_1', status: 'backlog', version: 1 } as StoredTask;
const execution = { id: 'ex_1', status: 'completed', claims: 1 } as ExecutionHead;
const deliveries = { wrong: [], ends: { delivered: 1 }, latestMs: 0, posts: 2 };

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
};

it('finds no fault where there is none', () => {
  const counts = { logged: 1, executions: { completed: 1 }, deliveries: { delivered: 1 }, posts: 2 };
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
    { underWay: [{ deliveryId, attempt: 2 } as DeliveryMessage] },
    /attempt 2 of dlv_\w+ is missing/,
  ],
  ['an event that no follower has seen', { followed: [] }, /has not seen it/],
  ['a wrong delivery', { deliveries: { ...deliveries, wrong: ['dlv_1 waits'] } }, /dlv_1 waits/],
])('finds %s', (_, different, words) => {
  expect(check({ ...whole, ...different }).lost.join('\n')).toMatch(words);
});

it('a post may have no record if a kill interrupted it, or if a write of its delivery was disturbed', () => {
  const post = { deliveryId, name: '', sentAt: 9_000, endedAt: 9_000 };
  const none = { interruptions: [], disturbed: [] };
  expect(isAtFault(post, none)).toBe(false);
  expect(isAtFault(post, { ...none, interruptions: [{ from: 9_500, to: 12_000 }] })).toBe(true);
  for (const [id, disturbed] of [
    [deliveryId, true],
    ['dlv_2', false],
  ] as const)
    expect(isAtFault(post, { ...none, disturbed: [{ at: 9_500, body: `{"deliveryId":{"S":"${id}"}}` }] })).toBe(
      disturbed,
    );
});
