import { beforeEach, describe, expect, it, vi } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import type { Scope } from '../../../lib/contract/endpoint.ts';
import { timestamp, ulidOf } from '../../../lib/contract/ids.ts';
import { type Comment, commentsLimit } from '../../../lib/contract/tasks/comments.ts';
import { issueToken } from '../../../lib/http/issue-token.ts';
import { runAs } from '../../../lib/table/access/current-request.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { commentOnTask } from '../../../lib/tasks/discussion/comments.ts';
import { carryOutTaskOrder } from '../../../lib/tasks/task-orders.ts';
import { dataOf, paginationOf, versionOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { createTaskCallers } from './task-caller.ts';

const start = Date.parse('2026-03-01T12:00:00.000Z');
vi.useFakeTimers({ toFake: ['Date'], now: start });
const { newTaskCaller } = await createTaskCallers();
const caller = newForEachTest(newTaskCaller);
const absent = { task: 'tk_01K00000000000000000000000', comment: 'cm_01K00000000000000000000000' };
let id: string;
beforeEach(async () => {
  vi.setSystemTime(start);
  id = await caller.put();
});

const wait = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1_000);
const comment = (body: unknown, token?: string) =>
  caller.commentOnTask({ params: { id }, body, ...(token && { token }) });
const list = (query = '') => caller.listComments({ params: { id }, query });
const textsOf = async (query = '') => dataOf<Comment[]>(await list(query)).map(({ text }) => text);
const paramsOf = (commentId: string, task = id) => ({ id: task, commentId });
const change = (commentId: string, body: unknown, token?: string) =>
  caller.updateComment({ params: paramsOf(commentId), body, ...(token && { token }) });
const remove = (commentId: string, token?: string) =>
  caller.deleteComment({ params: paramsOf(commentId), ...(token && { token }) });
const newToken = (more: { name?: string; person?: boolean } = {}, scopes: readonly Scope[] = ['tasks:write']) =>
  issueToken(processContext(), { organization: caller.organization, scopes, ...more });

/** Adds a comment and returns it. */
const put = async (text = 'A comment.'): Promise<Comment> => dataOf<Comment>(await comment({ text }));

/** Adds this number of comments that say their place, a second after each other. */
async function putMany(count: number): Promise<void> {
  for (let nth = 1; nth <= count; nth++) {
    await put(String(nth));
    wait(1);
  }
}

describe('a new comment', () => {
  it('answers the comment, in the name of its token, and changes nothing of the task', async () => {
    wait(60);
    const token = await newToken({ name: 'deploy-bot' });
    const before = await caller.getTask({ params: { id } });
    const answer = await comment({ text: 'Half of it.' }, token);
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      success: true,
      data: {
        ...{ id: expect.stringMatching(/^cm_[0-9A-Z]{26}$/), text: 'Half of it.' },
        author: { kind: 'token', name: 'deploy-bot', id: token.slice(5, 17) },
        ...{ createdAt: timestamp(start + 60_000), updatedAt: timestamp(start + 60_000) },
      },
    });
    expect(dataOf(await list())).toEqual([dataOf(answer)]);
    const { body, headers } = await caller.getTask({ params: { id } });
    expect([body, headers.ETag]).toEqual([before.body, before.headers.ETag]);
  });

  it('of a token without a name has its id as the name, and that of a person says so', async () => {
    const [nameless, person] = [await newToken(), await newToken({ name: 'Ada Lovelace', person: true })];
    await comment({ text: 'One.' }, nameless);
    wait(1);
    await comment({ text: 'Two.' }, person);
    expect(dataOf<Comment[]>(await list()).map(({ author }) => author)).toEqual([
      { kind: 'token', name: nameless.slice(5, 17), id: nameless.slice(5, 17) },
      { kind: 'person', name: 'Ada Lovelace', id: person.slice(5, 17) },
    ]);
  });

  it.each(['x', '😀'.repeat(10_000), ' \n- [ ] <b>Mark</b>down\r\n\t'])('takes the text %j as it is', async (text) => {
    expect((await put(text)).text).toBe(text);
    expect(await textsOf()).toEqual([text]);
  });

  it.each<[string, string, object]>([
    ['no text', 'text', {}],
    ['an empty text', 'text', { text: '' }],
    ['a text that shows nothing', 'text', { text: ' \n\u200b\u2800' }],
    ['10,001 characters', 'text', { text: '😀'.repeat(10_001) }],
    ['U+0000', 'text', { text: 'a\0b' }],
    ['half a character', 'text', { text: 'a\ud800' }],
    ['a number', 'text', { text: 1 }],
    ['an author', 'author', { text: 'Mine.', author: { kind: 'person', name: 'Bob' } }],
    ['a decision', 'review', { text: 'Mine.', review: 'accept' }],
  ])('with %s is refused', async (_, path, body) => {
    const { details } = await caller.refuses(() => comment(body), 400, 'validation_failed');
    expect(details).toMatchObject([{ path }]);
  });

  it('needs a task of the organization', async () => {
    const theirs = await (await newTaskCaller()).put();
    for (const task of [absent.task, 'tk_1', theirs]) {
      const params = { id: task };
      await caller.refuses(() => caller.commentOnTask({ params, body: { text: 'Hi.' } }), 404, 'not_found');
      await caller.refuses(() => caller.listComments({ params }), 404, 'not_found');
    }
  });

  it('needs tasks:write, and the list tasks:read', async () => {
    const writer = await newToken();
    const reader = await newToken({}, ['tasks:read']);
    await caller.refuses(() => comment({ text: 'Hi.' }, reader), 403, 'insufficient_scope');
    await caller.refuses(() => caller.listComments({ params: { id }, token: writer }), 403, 'insufficient_scope');
  });
});

describe('the list of comments', () => {
  it('has the oldest first, in pages with the exact total', async () => {
    expect((await list()).body).toMatchObject({ data: [], pagination: { total: 0 } });
    await putMany(5);
    expect(await textsOf()).toEqual(['1', '2', '3', '4', '5']);
    expect(await textsOf('limit=2')).toEqual(['1', '2']);
    expect(await textsOf('limit=2&offset=2')).toEqual(['3', '4']);
    expect(await textsOf('limit=2&offset=4')).toEqual(['5']);
    const beyond = await list('limit=2&offset=5');
    expect([dataOf(beyond), paginationOf(beyond)]).toEqual([[], { limit: 2, offset: 5, total: 5 }]);
    expect(paginationOf(await list('offset=999999')).total).toBe(5);
  });

  it('has the comments of its task only', async () => {
    await put();
    const other = await caller.put();
    expect(dataOf(await caller.listComments({ params: { id: other } }))).toEqual([]);
  });
});

it('a task has at most 1,000 comments, and room again after a deletion', async () => {
  const one = await put();
  for (let nth = 2; nth < commentsLimit; nth++)
    await commentOnTask(processContext(), caller.organization, id, 'Old.', undefined);
  wait(60);
  await put('The last one.');
  expect(await textsOf('offset=999')).toEqual(['The last one.']);
  expect(await textsOf('limit=1&offset=998')).toEqual(['Old.']);
  await caller.refuses(() => comment({ text: 'One more.' }), 409, 'limit_reached');
  await remove(one.id);
  expect((await comment({ text: 'One more.' })).status).toBe(201);
  expect(paginationOf(await list()).total).toBe(commentsLimit);
});

it('of eight comments at the same time all are there, and counted', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, (_, nth) => comment({ text: String(nth) })));
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
  expect((await textsOf()).toSorted()).toEqual(['0', '1', '2', '3', '4', '5', '6', '7']);
  expect(paginationOf(await list()).total).toBe(8);
});

describe('a comment', () => {
  it('is changed by its author, and keeps everything but the text and the time of the change', async () => {
    const before = await put();
    wait(60);
    const answer = await change(before.id, { text: 'In other words.' });
    const after = { ...before, text: 'In other words.', updatedAt: timestamp(start + 60_000) };
    expect([answer.status, dataOf(answer)]).toEqual([200, after]);
    expect(dataOf(await list())).toEqual([after]);
    expect(versionOf(await caller.getTask({ params: { id } }))).toBe(1);
  });

  it('with an equal text keeps its time', async () => {
    const before = await put();
    wait(60);
    expect(dataOf(await change(before.id, { text: before.text }))).toEqual(before);
  });

  it.each([{}, { text: '' }, { text: 'x'.repeat(10_001) }, { text: 'New.', review: 'accept' }])(
    'is not changed by %j',
    async (body) => {
      const { id: commentId } = await put();
      await caller.refuses(() => change(commentId, body), 400, 'validation_failed');
    },
  );

  it('is deleted by its author, once', async () => {
    await putMany(2);
    const { id: commentId } = dataOf<Comment[]>(await list())[0] as Comment;
    const answer = await remove(commentId);
    expect([answer.status, answer.body]).toEqual([200, { success: true }]);
    expect([await textsOf(), paginationOf(await list()).total]).toEqual([['2'], 1]);
    await caller.refuses(() => remove(commentId), 404, 'not_found');
    await caller.refuses(() => change(commentId, { text: 'New.' }), 404, 'not_found');
  });

  it('is changed and deleted by no other token, also of the same name', async () => {
    const [author, other] = [await newToken({ name: 'bot' }), await newToken({ name: 'bot' })];
    const { id: commentId } = dataOf<Comment>(await comment({ text: 'Mine.' }, author));
    const { message } = await caller.refuses(() => change(commentId, { text: 'New.' }, other), 403, 'not_author');
    expect(message).toContain('bot');
    await caller.refuses(() => remove(commentId, other), 403, 'not_author');
    expect((await change(commentId, { text: 'New.' }, author)).status).toBe(200);
    expect((await remove(commentId, author)).status).toBe(200);
  });

  it.each([
    {
      kind: 'agent',
      name: 'writer',
      id: 'ag_01K00000000000000000000000',
      executionId: 'ex_01K00000000000000000000000',
    },
    { kind: 'service', name: 'Crewboard' },
  ] as const)('of $kind $name is changed and deleted by no token', async (actor) => {
    const context = processContext();
    const by = () => commentOnTask(context, caller.organization, id, 'I have begun.', undefined);
    const { id: commentId, author } = await runAs(actor, by);
    const { executionId, ...expected } = { executionId: undefined, ...actor };
    expect(author).toEqual(expected);
    await caller.refuses(() => change(commentId, { text: 'New.' }), 403, 'not_author');
    await caller.refuses(() => remove(commentId), 403, 'not_author');
  });

  it('404 for one that does not exist, of another task, or of another organization', async () => {
    const { id: commentId } = await put();
    const [other, sibling] = [await newTaskCaller(), await caller.put()];
    const theirTask = await other.put();
    const theirs = dataOf<Comment>(await other.commentOnTask({ params: { id: theirTask }, body: { text: 'Ours.' } }));
    const wrong = [
      ...[paramsOf(absent.comment), paramsOf('cm_1'), paramsOf(theirs.id)],
      ...[paramsOf(commentId, sibling), paramsOf(commentId, absent.task), paramsOf(theirs.id, theirTask)],
    ];
    const before = await other.dump();
    for (const params of wrong) {
      await caller.refuses(() => caller.updateComment({ params, body: { text: 'New.' } }), 404, 'not_found');
      await caller.refuses(() => caller.deleteComment({ params }), 404, 'not_found');
    }
    expect(await other.dump()).toEqual(before);
  });

  it('403 for a token without tasks:write', async () => {
    const { id: commentId } = await put();
    const reader = await newToken({}, ['tasks:read']);
    await caller.refuses(() => change(commentId, { text: 'New.' }, reader), 403, 'insufficient_scope');
    await caller.refuses(() => remove(commentId, reader), 403, 'insufficient_scope');
  });
});

describe('the comments of a deleted task', () => {
  it('are not read and not changed, and the order of the stream deletes them', async () => {
    await putMany(30);
    const { id: commentId } = dataOf<Comment[]>(await list())[0] as Comment;
    await caller.deleteTask({ params: { id } });
    await caller.refuses(() => list(), 404, 'not_found');
    await caller.refuses(() => comment({ text: 'Late.' }), 404, 'not_found');
    await caller.refuses(() => change(commentId, { text: 'Late.' }), 404, 'not_found');
    await caller.refuses(() => remove(commentId), 404, 'not_found');
    const order = { organization: caller.organization, taskId: id, order: { kind: 'deleted' } } as const;
    // The queue can deliver it twice.
    for (let times = 0; times < 2; times++) {
      await carryOutTaskOrder(processContext(), order);
      const { pk } = keys.comments(caller.organization, ulidOf(id));
      expect(Object.keys(await caller.dump()).filter((key) => key.startsWith(pk))).toEqual([]);
    }
  });
});
