import { beforeEach, describe, expect, it } from 'vitest';
import type { Comment } from '../../../../lib/contract/tasks/comments.ts';
import type { Task, TaskDetail } from '../../../../lib/contract/tasks/tasks.ts';
import type { Event } from '../../../../lib/contract/webhooks/event-log.ts';
import type { EventName } from '../../../../lib/contract/webhooks/events.ts';
import { createApi, dataOf, successOf } from '../../../api.ts';
import { startReceiver } from '../../../sender/receiver.ts';
import { dumpOf } from '../../../table/fixtures/table-dump.ts';
import { publish } from '../call-functions.ts';
import { takeTurn } from '../delivery-queues.ts';
import { createTestPipeline, messageOf } from '../test-pipeline.ts';
import { createPublisher } from './publish-changes.ts';

const pipeline = await createTestPipeline();
const { service, organization, token, receive } = pipeline;
const api = createApi(token);
const { url } = await startReceiver();
const publishChanges = createPublisher(service);
const author = { kind: 'token', name: token.slice(5, 17), id: token.slice(5, 17) };
const fields = { title: 'A task', assignedAgent: 'qa-reviewer', projectId: 'proj_1' };
let id: string;
beforeEach(async () => {
  id = successOf(await api.createTask({ body: { ...fields, status: 'up_for_review' } })).id;
});

/** Returns the events of the log about a task. Events of the same millisecond have no order. */
async function events(query = `task_id=${id}`): Promise<Event[]> {
  await publishChanges();
  return dataOf<Event[]>(await api.listEvents({ query: `limit=100&${query}` }));
}

const namesOf = async (query?: string) => (await events(query)).map(({ event }) => event).toSorted();
const eventOf = async (name: EventName) => (await events()).find(({ event }) => event === name);
const comment = async (text: string, task = id) =>
  successOf<Comment>(await api.commentOnTask({ params: { id: task }, body: { text } }));
const remove = async (task = id) => expect((await api.deleteTask({ params: { id: task } })).status).toBe(200);
const update = async (body: object) => successOf(await api.updateTask({ params: { id }, body }));

/** Registers a webhook, and returns the id. */
async function register(names: EventName[], taskFilter?: object): Promise<string> {
  const body = { url, events: names, ...(taskFilter && { taskFilter }) };
  return successOf<{ id: string }>(await api.registerWebhook({ body })).id;
}

/** Publishes all changes, and returns the ids of the webhooks to which their events are sent. */
async function sentTo(): Promise<string[]> {
  await publishChanges();
  return (await receive()).filter((body) => !body.includes('"order"')).map((body) => messageOf(body).webhookId);
}

describe('the event of a comment', () => {
  it('has the task as it was, its version, and the comment', async () => {
    await update({ title: 'Renamed' });
    const { id: commentId, text, createdAt } = await comment('Half of it.');
    await update({ status: 'done' });
    expect(await eventOf('task.commented')).toEqual({
      ...{ id: expect.stringMatching(/^ev_[0-9A-Z]{26}$/), event: 'task.commented', occurredAt: createdAt },
      data: {
        task: { ...fields, id, title: 'Renamed', status: 'up_for_review' },
        comment: { id: commentId, text, author, taskId: id },
        ...{ sequence: 2, occurredAt: createdAt },
      },
    });
  });

  it('of a review has the decision, and the task after it', async () => {
    const body = { decision: 'send_back', comment: 'Too wide.' };
    const { updatedAt } = successOf<Task>(await api.reviewTask({ params: { id }, body }));
    expect(await namesOf()).toEqual(['task.commented', 'task.created', 'task.status_changed']);
    expect((await eventOf('task.commented'))?.data).toMatchObject({
      task: { id, status: 'assigned' },
      comment: { text: 'Too wide.', author, review: 'send_back', taskId: id },
      sequence: 2,
    });
    expect((await eventOf('task.status_changed'))?.data).toMatchObject({
      task: { id, previousStatus: 'up_for_review', status: 'assigned' },
      ...{ sequence: 2, occurredAt: updatedAt },
    });
    await update({ status: 'qa_review' });
    await api.reviewTask({ params: { id }, body: { decision: 'accept' } });
    expect(await namesOf()).toContain('task.completed');
    expect((await namesOf()).filter((event) => event === 'task.commented')).toHaveLength(1);
  });

  it('is found in the log by its task and its name', async () => {
    const other = successOf(await api.createTask({ body: { title: 'Another' } })).id;
    await comment('Hello.');
    await comment('Hello.', other);
    expect(await namesOf()).toEqual(['task.commented', 'task.created']);
    expect(await namesOf(`task_id=${id}&event=task.commented`)).toEqual(['task.commented']);
    expect(await namesOf(`execution_id=ex_${id.slice(3)}`)).toEqual([]);
  });

  it('is there once, however often the stream has its record', async () => {
    await comment('Hello.');
    const before = await events();
    const records = await service.changes.after(undefined, 10_000);
    for (let times = 0; times < 2; times++) expect(await publish(...records)).toEqual([]);
    expect(await events()).toEqual(before);
  });

  it('is that of a new comment only', async () => {
    const { id: commentId } = await comment('Hello.');
    const params = { id, commentId };
    successOf(await api.updateComment({ params, body: { text: 'Bye.' } }));
    successOf(await api.deleteComment({ params }));
    expect(await namesOf()).toEqual(['task.commented', 'task.created']);
    expect((await eventOf('task.commented'))?.data).toMatchObject({ comment: { text: 'Hello.' } });
  });

  it('has the whole text of the longest comment', async () => {
    const text = '😀'.repeat(10_000);
    await comment(text);
    expect((await eventOf('task.commented'))?.data).toMatchObject({ comment: { text } });
  });

  it('is sent to webhooks whose filter matches the task', async () => {
    await sentTo();
    const names: EventName[] = ['task.commented'];
    const matching = [
      await register(names),
      await register(names, { projectId: 'proj_1' }),
      await register(names, { assignedAgent: 'qa-reviewer' }),
      await register(names, { projectId: 'proj_1', assignedAgent: 'qa-reviewer' }),
    ];
    await register(['task.deleted']);
    await register(names, { projectId: 'proj_2' });
    await register(names, { projectId: 'proj_1', assignedAgent: 'prompt-improver' });
    await comment('Hello.');
    expect(new Set(await sentTo())).toEqual(new Set(matching));
    for (const webhookId of matching) {
      const { body } = await api.listWebhookEvents({ params: { id: webhookId } });
      expect(body.data).toMatchObject([{ event: 'task.commented', taskId: id }]);
    }
  });
});

describe('the event of a deletion', () => {
  it('has the task as it was, with the version after its last one, and is found by its task', async () => {
    await update({ status: 'backlog' });
    await remove();
    expect(await namesOf()).toEqual(['task.created', 'task.deleted', 'task.status_changed']);
    const deleted = (await eventOf('task.deleted')) as Event;
    const { occurredAt } = deleted;
    expect(deleted).toEqual({
      ...{ id: expect.stringMatching(/^ev_[0-9A-Z]{26}$/), event: 'task.deleted', occurredAt },
      data: { task: { ...fields, id, status: 'backlog' }, sequence: 3, occurredAt },
    });
    expect(Date.now() - Date.parse(occurredAt)).toBeLessThan(60_000);
  });

  it('is sent to webhooks whose filter matches the task, and is there once', async () => {
    await sentTo();
    const matching = await register(['task.deleted'], { projectId: 'proj_1' });
    await register(['task.deleted'], { projectId: 'proj_2' });
    await remove();
    expect((await sentTo()).filter((webhookId) => webhookId === matching)).toEqual([matching]);
    const before = await events();
    await publish(...(await service.changes.after(undefined, 10_000)));
    expect(await events()).toEqual(before);
  });

  it('of a task with many dependents comes once, and they stay', async () => {
    const dependent = async () =>
      successOf(await api.createTask({ body: { title: 'Later', status: 'done', dependsOn: [id] } })).id;
    const dependents = await Promise.all(Array.from({ length: 40 }, dependent));
    await remove();
    expect((await namesOf()).filter((event) => event === 'task.deleted')).toEqual(['task.deleted']);
    const one = successOf<TaskDetail>(await api.getTask({ params: { id: dependents[0] as string } }));
    expect(one).toMatchObject({ title: 'Later', dependsOn: [] });
    expect(await receive('deadLetters')).toEqual([]);
  });
});

describe('the comments of a deleted task', () => {
  const commentsIn = async () =>
    Object.keys(await dumpOf(service.table, organization)).filter((key) => key.includes(`#TC#${id.slice(3)}`));

  it('are deleted by a worker, which the stream orders', async () => {
    await comment('Hello.');
    await comment('Bye.');
    await remove();
    expect(await commentsIn()).toHaveLength(3);
    await publishChanges();
    await takeTurn(pipeline);
    expect(await commentsIn()).toEqual([]);
    expect(await namesOf()).toEqual(['task.commented', 'task.commented', 'task.created', 'task.deleted']);
  });

  it('need no order if there are none', async () => {
    await takeTurn(pipeline);
    await remove();
    await publishChanges();
    expect((await receive()).filter((body) => body.includes('"order"'))).toEqual([]);
  });
});
