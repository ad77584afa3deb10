import { expect, it } from 'vitest';
import { timestamp } from '../../lib/contract/ids.ts';
import type { DeliveryMessage } from '../../lib/deployment/messages.ts';
import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';
import type { StoredTask } from '../../lib/table/tasks/task-items.ts';
import { check } from './check.ts';
import type { Evidence, LoggedAttempt, WebhookEvidence } from './evidence.ts';
import type { Post } from './receivers.ts';

const at = (seconds: number) => Date.UTC(2026, 0, 1) + seconds * 1000;

const taskId = 'tk_01KDVDMZ0000000000000000T1';
const deliveryId = 'dlv_01KDVDMZ0000000000000000D1';
const task = { id: taskId, status: 'backlog', version: 1 } as StoredTask;
const execution = { id: 'ex_01KDVDMZ0000000000000000X1', status: 'completed', claims: 1 } as ExecutionHead;

const failed: LoggedAttempt = {
  ...{ id: deliveryId, deliveryId, attempt: 1, event: 'task.created', httpStatus: 500, durationMs: 0 },
  ...{ deliveredAt: timestamp(at(0)), redelivery: false, error: 'The receiver answered 500.', eventId: 'ev_1' },
  nextAttemptAt: timestamp(at(1)),
};
const { error: _, nextAttemptAt: __, ...withoutError } = failed;
const succeeded: LoggedAttempt = { ...withoutError, id: 'dlv_2', attempt: 2, httpStatus: 204 };
const exhausted = { ...withoutError, error: failed.error as string };

const postAt = (seconds: number, status: number): Post => ({
  ...{ deliveryId, event: 'task.created', about: { id: taskId, status: 'backlog' } },
  ...{ sentAt: at(seconds), endedAt: at(seconds), status },
});

const webhook: WebhookEvidence = {
  ...{ id: 'wh_01KDVDMZ0000000000000000W1', events: ['task.created'], total: 2 },
  ...{ attempts: [failed, succeeded], posts: [postAt(0, 500), postAt(1, 204)] },
};

/** Evidence of a task that was created and delivered at the second attempt. */
const whole: Evidence = {
  ledger: {
    ...{ tasks: new Map([[taskId, { statuses: ['backlog'], version: 1 }]]), events: 1 },
    executions: new Set([execution.id]),
  },
  ...{ executions: [execution], tasks: [task], webhooks: [webhook] },
  ...{ differences: [], underWay: [], due: [], interruptions: [], disturbed: [] },
};
const but = (different: Partial<WebhookEvidence>): Evidence => ({ ...whole, webhooks: [{ ...webhook, ...different }] });
const andPost = (post: Partial<Post>) => but({ posts: [...webhook.posts, { ...postAt(9, 204), ...post }] });

it('finds no fault where there is none', () => {
  expect(check(whole)).toEqual({
    ...{ lost: [], executions: { completed: 1 }, deliveries: { delivered: 1 } },
    ...{ attempts: 2, duplicates: 0 },
  });
});

it.each<[string, Evidence, RegExp]>([
  ['a task that is gone', { ...whole, tasks: [] }, /was created and does not exist/],
  ['a change that is gone', { ...whole, tasks: [{ ...task, version: 2 }] }, /was backlog in version 1 .* version 2/],
  ['an unknown task', { ...whole, tasks: [task, { ...task, id: 'tk_2' }] }, /no response has named it/],
  ['an execution that is gone', { ...whole, executions: [] }, /was started and does not exist/],
  ['an unknown execution', { ...whole, executions: [execution, { ...execution, id: 'ex_2' }] }, /has named it/],
  ['an execution that runs', { ...whole, executions: [{ ...execution, status: 'running' }] }, /is still running/],
  [
    'an execution that is lost too soon',
    { ...whole, executions: [{ ...execution, status: 'failed', error: 'lost' }] },
    /has failed \(lost\) after 1 leases/,
  ],
  ['a list that miscounts', { ...whole, differences: ['a counter'] }, /a counter differs/],
  ['an entry left in the due index', { ...whole, due: ['an entry'] }, /an entry is still in the due index/],
  [
    'an attempt that the service misses',
    { ...whole, underWay: [{ deliveryId, attempt: 2 } as DeliveryMessage] },
    /attempt 2 of dlv_\w+ is missing/,
  ],
  ['an end that was not received', but({ events: ['task.created', 'agent.completed'] }), /ex_\w+ completed .* 0 deliv/],
  ['an event that was not received', but({ posts: [] }), /task.created tk_\w+ backlog was received by .* 0 deliveries/],
  ['an event in two deliveries', andPost({ deliveryId: 'dlv_3' }), /in 2 deliveries/],
  ['an event that was not taken', but({ posts: [postAt(0, 500)] }), /was not taken/],
  ['an event without a subscription', but({ events: [] }), /is not to be/],
  ['an event that did not happen', andPost({ about: { id: taskId, status: 'done' } }), /with several events/],
  ['a delivery that waits', but({ attempts: [failed] }), /is retrying/],
  ['a delivery that is exhausted too soon', but({ attempts: [exhausted] }), /is exhausted .* 1 have failed/],
  ['an attempt without a record', but({ attempts: [succeeded], total: 1 }), /delivered after the attempts 2,/],
  ['an attempt recorded twice', but({ attempts: [failed, failed, succeeded], total: 3 }), /the attempts 1, 1, 2,/],
  ['a history that miscounts', but({ total: 3 }), /counts 3 attempts and has 2/],
  ['a recorded response that no receiver sent', but({ posts: [postAt(1, 204)] }), /a response of 500 that no receiver/],
  ['a post that nothing explains', andPost({}), /no fault explains it/],
])('finds %s', (_, evidence, words) => {
  expect(check(evidence).lost.join('\n')).toMatch(words);
});

it.each<[string, Partial<Evidence>]>([
  ['a kill while it was under way', { interruptions: [{ from: at(9.5), to: at(12) }] }],
  ['its own lost write', { disturbed: [{ at: at(9.5), body: `{"deliveryId":{"S":"${deliveryId}"}}` }] }],
])('counts a post that is explained by %s as a duplicate', (_, fault) => {
  expect(check({ ...andPost({}), ...fault })).toMatchObject({ lost: [], duplicates: 1 });
});

it('an attempt that did not reach its receiver has no post', () => {
  const unsent = { ...failed, httpStatus: 0, attempt: 2, id: 'dlv_2' };
  const third = { ...succeeded, attempt: 3, id: 'dlv_3' };
  const evidence = but({ attempts: [third, unsent, failed], total: 3 });
  expect(check(evidence)).toMatchObject({ lost: [], duplicates: 0 });
});
