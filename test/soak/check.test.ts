import { expect, it } from 'vitest';
import type { EventName } from '../../lib/contract/events.ts';
import { timestamp } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { DeliveryMessage } from '../../lib/deployment/messages.ts';
import type { LoggedEvent } from '../../lib/table/deliveries/event-log.ts';
import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';
import type { StoredTask } from '../../lib/table/tasks/task-items.ts';
import { check } from './check.ts';
import type { Evidence, LoggedAttempt, WebhookEvidence } from './evidence.ts';
import type { Post } from './receivers.ts';

const start = Date.UTC(2026, 0, 1);
const at = (seconds: number) => start + seconds * 1000;

const webhookId = 'wh_01KDVDMZ0000000000000000W1';
const taskId = 'tk_01KDVDMZ0000000000000000T1';
const deliveryId = 'dlv_01KDVDMZ0000000000000000D1';
const about = { id: taskId, status: 'backlog' };

const task = { id: taskId, status: 'backlog', version: 1 } as StoredTask;

const execution = { id: 'ex_01KDVDMZ0000000000000000X1', status: 'completed', claims: 1 } as ExecutionHead;

const logged: LoggedEvent = {
  ...{ organization: 'local' as Organization, id: 'ev_01KDVDMZ0000000000000000E1', event: 'task.created' },
  ...{ item: taskId, version: 1, data: JSON.stringify({ task: about }) },
};

/** Events of an execution, without subscribers. */
const unsubscribed = ['spawned', 'completed'].map((end, nth): LoggedEvent => {
  const { id } = execution;
  const data = JSON.stringify({ execution: { id, status: nth === 0 ? 'running' : end } });
  return { ...logged, id: `ev_01KDVDMZ0000000000000000E${nth + 2}`, event: `agent.${end}` as EventName, data };
});

const failed: LoggedAttempt = {
  ...{ id: deliveryId, deliveryId, attempt: 1, event: 'task.created', httpStatus: 500, durationMs: 0 },
  ...{ deliveredAt: timestamp(at(0)), redelivery: false, error: 'The receiver answered 500.' },
  ...{ eventId: logged.id, nextAttemptAt: timestamp(at(1)) },
};

const succeeded: LoggedAttempt = {
  ...{ id: 'dlv_01KDVDMZ0000000000000000D2', deliveryId, attempt: 2, event: 'task.created', httpStatus: 204 },
  ...{ durationMs: 0, deliveredAt: timestamp(at(1)), redelivery: true, eventId: logged.id },
};

const postAt = (seconds: number, status: number): Post => ({
  ...{ deliveryId, event: 'task.created', about },
  ...{ sentAt: at(seconds), endedAt: at(seconds), status },
});

const webhook: WebhookEvidence = {
  id: webhookId,
  events: ['task.created'],
  attempts: [failed, succeeded],
  total: 2,
  posts: [postAt(0, 500), postAt(1, 204)],
};

const whole: Evidence = {
  ledger: {
    ...{ tasks: new Map([[taskId, { statuses: ['backlog'], version: 1 }]]), events: 1 },
    executions: new Set([execution.id]),
  },
  executions: [execution],
  countedExecutions: new Map([['completed', 1]]),
  places: 0,
  tasks: [task],
  counted: new Map([['backlog', 1]]),
  events: [logged, ...unsubscribed],
  underWay: [],
  webhooks: [webhook],
  due: [],
  interruptions: [],
  disturbed: [],
};

/** Evidence of a task that was created and delivered at the second attempt, with some differences. */
const but = (different: Partial<WebhookEvidence>): Evidence => ({ ...whole, webhooks: [{ ...webhook, ...different }] });

it('finds no fault where there is none', () => {
  expect(check(whole)).toEqual({
    ...{ lost: [], executions: { completed: 1 }, deliveries: { delivered: 1 } },
    ...{ attempts: 2, duplicates: 0 },
  });
});

const { nextAttemptAt: _, ...exhausted } = failed;
const duplicate = { ...succeeded, id: 'dlv_01KDVDMZ0000000000000000D3', deliveryId: 'dlv_01KDVDMZ0000000000000000D3' };
const neverHappened = { ...logged, id: 'ev_2', data: JSON.stringify({ task: { ...about, status: 'done' } }) };

it.each<[string, Evidence, RegExp]>([
  ['a task that is gone', { ...whole, tasks: [] }, /was created and does not exist/],
  ['a change that is gone', { ...whole, tasks: [{ ...task, version: 2 }] }, /was backlog in version 1 and is/],
  ['an unknown task', { ...whole, tasks: [task, { ...task, id: 'tk_2' }] }, /no response has named it/],
  ['a list that miscounts', { ...whole, counted: new Map([['backlog', 2]]) }, /counts 2 tasks, not 1/],
  ['an execution that is gone', { ...whole, executions: [] }, /was started and does not exist/],
  [
    'an unknown execution',
    { ...whole, executions: [execution, { ...execution, id: 'ex_2' }] },
    /no response has named it/,
  ],
  ['an execution that runs', { ...whole, executions: [{ ...execution, status: 'running' }] }, /is still running/],
  [
    'an execution that is lost too soon',
    { ...whole, executions: [{ ...execution, status: 'failed', error: 'lost' }] },
    /has failed \(lost\) after 1 leases/,
  ],
  ['an execution that still counts as running', { ...whole, places: 1 }, /1 executions count as running/],
  [
    'a list of executions that miscounts',
    { ...whole, countedExecutions: new Map([['failed', 1]]) },
    /1 executions, not 0/,
  ],
  [
    'an end without a delivery',
    but({ events: ['agent.completed'] }),
    /agent.completed ex_\w+ completed has no delivery/,
  ],
  ['an entry left in the due index', { ...whole, due: ['left'] }, /left is still in the due index/],
  ['an event that is gone', { ...whole, events: unsubscribed }, /task.created tk_\w+ backlog is not in the event log/],
  ['an event of what never happened', { ...whole, events: [...whole.events, neverHappened] }, /and never happened/],
  ['an event that is logged twice', { ...whole, events: [...whole.events, logged] }, /is 2 times in the event log/],
  ['an event without a delivery', but({ attempts: [] }), /has no delivery to/],
  ['an event with two deliveries', but({ attempts: [failed, succeeded, duplicate] }), /has 2 deliveries/],
  ['a delivery without a subscription', but({ events: [] }), /is of an event without its subscription/],
  ['a delivery of no event', but({ attempts: [{ ...succeeded, eventId: 'ev_3' }] }), /without its subscription/],
  ['a delivery that waits', but({ attempts: [failed] }), /has not ended/],
  ['an exhausted one with steps left', but({ attempts: [exhausted] }), /have failed, not 4/],
  [
    'an attempt that the service itself misses',
    { ...whole, underWay: [{ deliveryId, attempt: 2 } as DeliveryMessage] },
    /attempt 2 of dlv_\w+ is missing/,
  ],
  ['an attempt without a record', but({ attempts: [succeeded], total: 1 }), /has recorded the attempts 2$/],
  ['an attempt recorded twice', but({ attempts: [failed, failed, succeeded], total: 3 }), /the attempts 1, 1, 2$/],
  ['a record that is mislabelled', but({ attempts: [failed, { ...succeeded, redelivery: false }] }), /wrong record/],
  [
    'a record whose status is no success and which has no error',
    but({ attempts: [failed, { ...succeeded, httpStatus: 500 }] }),
    /wrong record/,
  ],
  ['a history that miscounts', but({ total: 3 }), /counts 3 attempts and has 2/],
  ['a delivered one never received', but({ posts: [postAt(0, 500)] }), /its receiver has not taken it/],
  [
    'a recorded response that no receiver sent',
    but({ posts: [postAt(1, 204)] }),
    /records a response of 500 that no receiver/,
  ],
  ['a post of no delivery', but({ posts: [...webhook.posts, { ...postAt(0, 500), deliveryId: 'x' }] }), /is no d/],
  ['a post of another event', but({ posts: [{ ...postAt(0, 500), event: 'task.completed' }] }), /was received as/],
  ['a post that nothing explains', but({ posts: [...webhook.posts, postAt(9, 204)] }), /no fault explains it/],
])('finds %s', (_, evidence, words) => {
  expect(check(evidence).lost.join('\n')).toMatch(new RegExp(words.source, 'm'));
});

it.each<[string, Partial<Evidence>]>([
  ['a kill while it was under way', { interruptions: [{ from: at(9.5), to: at(12) }] }],
  ['its own lost write', { disturbed: [{ at: at(9.5), body: `{"deliveryId":{"S":"${deliveryId}"}}` }] }],
])('counts a post that is explained by %s as a duplicate', (_, fault) => {
  const evidence = { ...but({ posts: [...webhook.posts, postAt(9, 204)] }), ...fault };
  expect(check(evidence)).toMatchObject({ lost: [], duplicates: 1 });
});

it('an attempt that did not reach its receiver has no post', () => {
  const unsent = { ...failed, httpStatus: 0, deliveredAt: timestamp(at(2)), attempt: 2, redelivery: true, id: 'dlv_2' };
  const third = { ...succeeded, deliveredAt: timestamp(at(3)), attempt: 3 };
  const evidence = but({
    attempts: [third, unsent, failed],
    total: 3,
    posts: [postAt(0, 500), postAt(3, 204)],
  });
  expect(check(evidence)).toMatchObject({ lost: [], duplicates: 0 });
});
