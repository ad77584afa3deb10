import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import { timestamp, ulidOf } from '../../../lib/contract/ids.ts';
import { type Comment, commentsLimit } from '../../../lib/contract/tasks/comments.ts';
import type { ReviewDecision } from '../../../lib/contract/tasks/task-reviews.ts';
import { reviewStatuses, type Task, type TaskDetail, taskStatuses } from '../../../lib/contract/tasks/tasks.ts';
import { issueToken } from '../../../lib/http/issue-token.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { dataOf, paginationOf, versionOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { newAgent } from '../agents/test-agents.ts';
import { createTaskCallers } from './task-caller.ts';

const start = Date.parse('2026-03-01T12:00:00.000Z');
vi.useFakeTimers({ toFake: ['Date'], now: start });
const { service, newTaskCaller } = await createTaskCallers();
const caller = newForEachTest(newTaskCaller);
const absent = 'tk_01K00000000000000000000000';
let id: string;
beforeEach(async () => {
  vi.setSystemTime(start);
  await caller.createAgent({ body: newAgent });
  id = await caller.put({ status: 'up_for_review', assignedAgent: newAgent.name });
});

const wait = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1_000);
const read = async (task = id) => dataOf<TaskDetail>(await caller.getTask({ params: { id: task } }));
const review = (body: object, task = id) => caller.reviewTask({ params: { id: task }, body });
const sendBack = (comment: string, task = id) => review({ decision: 'send_back', comment }, task);
const patch = (body: object, task = id) => caller.updateTask({ params: { id: task }, body });
const comments = async (task = id) => dataOf<Comment[]>(await caller.listComments({ params: { id: task } }));
const refused = (code: string, body: object = { decision: 'accept' }, task = id) =>
  caller.refuses(() => review(body, task), 409, code);

const sendingBack = { decision: 'send_back', comment: 'Too wide.' } as const;
const decisions = [{ decision: 'accept' }, { decision: 'accept', comment: 'Well done.' }, sendingBack] as const;

/** Claims the task and returns the id of the claim. */
async function claimed(body: object = {}): Promise<string> {
  return dataOf<Task>(await caller.claimTask({ params: { id }, body: { worker: 'Ada', ...body } })).claim?.id as string;
}

describe('a review', () => {
  const cases = reviewStatuses.flatMap((from) =>
    [newAgent.name, undefined].flatMap((assignedAgent) =>
      decisions.map((body) => {
        const sentBackTo = assignedAgent ? 'assigned' : 'backlog';
        return { from, assignedAgent, body, to: body.decision === 'accept' ? 'done' : sentBackTo };
      }),
    ),
  );

  it.each(cases)('moves a task in $from of $assignedAgent to $to: $body', async ({ from, assignedAgent, body, to }) => {
    const task = await caller.put({ status: from, assignedAgent });
    const before = await read(task);
    wait(60);
    const answer = await review(body, task);
    expect(answer.status).toBe(200);
    const { blockedBy, ...fields } = before;
    expect(dataOf(answer)).toEqual({ ...fields, status: to, updatedAt: timestamp(start + 60_000) });
    expect(await read(task)).toMatchObject({ status: to });
    expect(versionOf(await caller.getTask({ params: { id: task } }))).toBe(2);
    const total = async (status: string) => paginationOf(await caller.listTasks({ query: `status=${status}` })).total;
    expect(await total(to)).toBe(1);
  });

  it('keeps its comment as one of the task, in the name of the token, with the decision', async () => {
    const token = await issueToken(processContext(), {
      ...{ organization: caller.organization, name: 'Ada Lovelace', person: true, scopes: ['tasks:write'] },
    });
    await caller.reviewTask({ params: { id }, body: sendingBack, token });
    const author = { kind: 'person', name: 'Ada Lovelace', id: token.slice(5, 17) };
    expect(await comments()).toEqual([
      {
        ...{ id: expect.stringMatching(/^cm_[0-9A-Z]{26}$/), text: 'Too wide.', author, review: 'send_back' },
        ...{ createdAt: timestamp(start), updatedAt: timestamp(start) },
      },
    ]);
  });

  it('that accepts without a comment adds none', async () => {
    await review({ decision: 'accept' });
    expect(await comments()).toEqual([]);
  });

  it.each<[string, string, object]>([
    ['no comment to send the task back', 'comment', { decision: 'send_back' }],
    ['an empty comment', 'comment', { decision: 'send_back', comment: '' }],
    ['a comment that shows nothing', 'comment', { decision: 'accept', comment: '\u200b \u2800' }],
    ['a comment of 10,001 characters', 'comment', { decision: 'accept', comment: '😀'.repeat(10_001) }],
    ['a comment with half a character', 'comment', { decision: 'accept', comment: 'a\ud800' }],
    ['no decision', 'decision', { comment: 'Good.' }],
    ['another decision', 'decision', { decision: 'reject', comment: 'Bad.' }],
    ['another field', 'status', { decision: 'accept', status: 'backlog' }],
  ])('with %s is refused, and names %s', async (_, path, body) => {
    const { details } = await caller.refuses(() => review(body), 400, 'validation_failed');
    expect(details).toMatchObject([{ path }]);
  });

  it('takes a comment of 10,000 characters', async () => {
    const text = '😀'.repeat(10_000);
    expect((await sendBack(text)).status).toBe(200);
    expect(await comments()).toMatchObject([{ text }]);
  });

  it.each(taskStatuses.filter((status) => !reviewStatuses.includes(status)))(
    'of a task in %s is refused, whose status the message names',
    async (status) => {
      await patch({ status });
      const { message } = await refused('task_not_in_review');
      expect(message).toContain(`The task is ${status};`);
      await refused('task_not_in_review', sendingBack);
    },
  );

  it('is refused while a claim lasts, which the details name', async () => {
    await patch({ status: 'assigned' });
    const claimId = await claimed();
    await patch({ status: 'qa_review', claimId });
    const { details } = await refused('task_claimed');
    expect(details).toMatchObject([{ worker: 'Ada' }]);
    await caller.releaseTask({ params: { id }, body: { claimId } });
    expect((await review({ decision: 'accept' })).status).toBe(200);
  });

  it('is made once the claim is over, which it ends', async () => {
    await patch({ status: 'assigned' });
    const claimId = await claimed({ leaseSeconds: 60 });
    await patch({ status: 'qa_review', claimId });
    wait(60);
    expect(dataOf(await sendBack('More.'))).toMatchObject({ status: 'assigned' });
    expect(await read()).not.toHaveProperty('claim');
    await caller.refuses(() => caller.renewClaim({ params: { id }, body: { claimId } }), 409, 'claim_lost');
  });

  it('is refused while an execution works on the task, whatever its status', async () => {
    await patch({ status: 'assigned' });
    const params = { name: newAgent.name };
    const started = await caller.executeAgent({ params, body: { input: 'Write.', taskId: id } });
    await patch({ status: 'up_for_review' });
    await refused('execution_running');
    await refused('execution_running', sendingBack);
    const { executionId } = dataOf<{ executionId: string }>(started);
    await caller.cancelExecution({ params: { ...params, id: executionId } });
    expect((await review({ decision: 'accept' })).status).toBe(200);
  });

  it('is refused while an execution works on it that has started on the task in review, and so has not moved it', async () => {
    await patch({ status: 'up_for_review' });
    const params = { name: newAgent.name };
    const started = await caller.executeAgent({ params, body: { input: 'Look at it.', taskId: id } });
    await refused('execution_running');
    const { executionId } = dataOf<{ executionId: string }>(started);
    await caller.cancelExecution({ params: { ...params, id: executionId } });
    expect((await review({ decision: 'accept' })).status).toBe(200);
  });

  it('of eight at the same time is made once', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, (_, nth) => sendBack(`By reviewer ${nth}.`)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(409)]);
    expect(await comments()).toHaveLength(1);
    expect(versionOf(await caller.getTask({ params: { id } }))).toBe(2);
  });

  it('404 for a task that does not exist, and for one of another organization, which stays as it is', async () => {
    const other = await newTaskCaller();
    const theirs = await other.put({ status: 'qa_review' });
    const before = await other.dump();
    for (const task of [absent, 'tk_1', theirs])
      await caller.refuses(() => review(sendingBack, task), 404, 'not_found');
    expect(await other.dump()).toEqual(before);
  });

  it('403 for a token without tasks:write', async () => {
    const reader = await newTaskCaller(['tasks:read']);
    await reader.refuses(() => reader.reviewTask({ params: { id }, body: sendingBack }), 403, 'insufficient_scope');
  });
});

describe('a task with 1,000 comments', () => {
  const setCount = (count: number) =>
    service.table.client.send(
      new UpdateCommand({
        ...{ TableName: service.tableName, Key: keys.commentCount(caller.organization, ulidOf(id)) },
        UpdateExpression: 'SET #count = :count',
        ExpressionAttributeNames: { '#count': 'count' },
        ExpressionAttributeValues: { ':count': count },
      }),
    );

  it('is not sent back and not accepted with a comment, but accepted without one', async () => {
    await setCount(commentsLimit);
    await refused('limit_reached', sendingBack);
    await refused('limit_reached', { decision: 'accept', comment: 'Good.' });
    expect(dataOf(await review({ decision: 'accept' }))).toMatchObject({ status: 'done' });
  });

  it('can be sent back if it has one less', async () => {
    await setCount(commentsLimit - 1);
    expect((await review(sendingBack)).status).toBe(200);
    expect(paginationOf(await caller.listComments({ params: { id } })).total).toBe(commentsLimit);
  });
});

describe('a task that is sent back', () => {
  it('begins a new round, in which its agent starts again', async () => {
    await caller.updateAgent({ params: { name: newAgent.name }, body: { autoRun: true } });
    await caller.setAttribute(id, 'autoRuns', 4);
    await sendBack('Once more.');
    expect((await read()).autoRun).toEqual({ state: 'waiting', reason: 'running' });
  });

  it('has no failures of workers any more, as after any other change of its status', async () => {
    await patch({ status: 'assigned' });
    const fail = async (status?: string) =>
      caller.releaseTask({ params: { id }, body: { claimId: await claimed(), failed: true, status } });
    await fail();
    await fail('up_for_review');
    await sendBack('Once more.');
    await fail();
    expect(await read()).not.toHaveProperty('stopped');
  });

  it('is claimed with the comments of its reviews, the newest first, as they are now', async () => {
    await sendBack('One.');
    wait(1);
    await patch({ status: 'qa_review' });
    await review({ decision: 'accept', comment: 'Two.' });
    await patch({ status: 'qa_review' });
    for (const text of ['Three.', 'Four.']) {
      wait(1);
      await patch({ status: 'qa_review' });
      await sendBack(text);
    }
    await caller.commentOnTask({ params: { id }, body: { text: 'No review.' } });
    const [one, , three] = (await comments()) as [Comment, Comment, Comment];
    await caller.updateComment({ params: { id, commentId: one.id }, body: { text: 'One, in other words.' } });
    await caller.deleteComment({ params: { id, commentId: three.id } });

    const reviewsOf = (task: unknown) =>
      (task as { reviewComments?: Comment[] }).reviewComments?.map(({ text, review: decision }) => [decision, text]);
    const expected: [ReviewDecision, string][] = [
      ['send_back', 'Four.'],
      ['accept', 'Two.'],
      ['send_back', 'One, in other words.'],
    ];
    const headers = { 'Idempotency-Key': 'claim-once' };
    const claim = () => caller.claimTask({ params: { id }, body: { worker: 'Ada' }, headers });
    const answer = await claim();
    expect(reviewsOf(dataOf(answer))).toEqual(expected);
    expect(dataOf(await claim())).toEqual(dataOf(answer));
    await caller.takeBackTask({ params: { id } });
    expect(reviewsOf(dataOf(await caller.claimNextTask({ body: { worker: 'Bob' } })))).toEqual(expected);
    expect(await read()).not.toHaveProperty('reviewComments');
  });

  it('is claimed with at most 8 KiB of comments, cut between characters', async () => {
    const mark = '\n\n[The comment is cut here: comments of reviews have at most 8 KiB in all.]';
    for (const text of ['Oldest.', '😀😀😀', 'a'.repeat(8_192 - 10)]) {
      await patch({ status: 'qa_review' });
      await sendBack(text);
      wait(1);
    }
    const answer = await caller.claimTask({ params: { id }, body: { worker: 'Ada' } });
    const { reviewComments } = dataOf<{ reviewComments: Comment[] }>(answer);
    // Ten bytes hold two characters of four bytes, and half of a third.
    expect(reviewComments.map(({ text }) => text)).toEqual(['a'.repeat(8_192 - 10), `😀😀${mark}`]);
  });

  it('without comments of reviews is claimed without the field', async () => {
    await patch({ status: 'assigned' });
    await caller.commentOnTask({ params: { id }, body: { text: 'No review.' } });
    expect(dataOf(await caller.claimTask({ params: { id }, body: { worker: 'Ada' } }))).not.toHaveProperty(
      'reviewComments',
    );
  });
});
