import { beforeEach, describe, expect, it } from 'vitest';
import { type Task, type TaskCounts, taskStatuses } from '../../../lib/contract/tasks/tasks.ts';
import { dataOf, paginationOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { createTaskCallers } from './task-caller.ts';

const { newTaskCaller } = await createTaskCallers();
const caller = newForEachTest(newTaskCaller);
const ids: Record<string, string> = {};
beforeEach(async () => {
  await (await newTaskCaller()).put({ status: 'up_for_review' });
  for (const status of taskStatuses) ids[status] = await caller.put({ status, projectId: 'proj_1' });
  ids.other = await caller.put({ status: 'up_for_review', priority: 'high', assignedAgent: 'qa-reviewer' });
});

const list = (query: string) => caller.listTasks({ query });
const idsOf = async (query: string) => dataOf<Task[]>(await list(query)).map(({ id }) => id);
const count = (query: string) => caller.countTasks({ query });
/** Returns ids in the order of a list, also ids of the same millisecond, whose order is random. */
const newestFirst = (...names: string[]) => names.flatMap((name) => ids[name] ?? []).sort((a, b) => (a < b ? 1 : -1));

describe('the tasks that wait for a review', () => {
  it.each([
    ['', ['qa_review', 'up_for_review', 'other']],
    ['&project_id=proj_1', ['qa_review', 'up_for_review']],
    ['&assigned_agent=qa-reviewer', ['other']],
    ['&priority=high', ['other']],
    ['&priority=high&project_id=proj_1', []],
  ])('are those in qa_review and up_for_review, also with the filters %j', async (filters, names) => {
    const expected = newestFirst(...names);
    expect(await idsOf(`waiting_for=review${filters}`)).toEqual(expected);
    expect(paginationOf(await list(`waiting_for=review${filters}`)).total).toBe(expected.length);
    expect(dataOf<TaskCounts>(await count(`waiting_for=review${filters}`)).total).toBe(expected.length);
  });

  it('are listed in pages', async () => {
    const expected = newestFirst('qa_review', 'up_for_review', 'other');
    for (const offset of [0, 1, 2])
      expect(await idsOf(`waiting_for=review&limit=1&offset=${offset}`)).toEqual([expected[offset]]);
    expect(await idsOf('waiting_for=review&offset=3')).toEqual([]);
  });

  it('are counted by status, priority and agent', async () => {
    const groups = async (groupBy: string) =>
      dataOf<TaskCounts>(await count(`waiting_for=review&group_by=${groupBy}`))
        .groups.filter((one) => one.count > 0)
        .map(({ value, count: tasks }) => [value, tasks]);
    expect(Object.fromEntries(await groups('status'))).toEqual({ qa_review: 1, up_for_review: 2 });
    expect(Object.fromEntries(await groups('priority'))).toEqual({ medium: 2, high: 1 });
    expect(await groups('assigned_agent')).toEqual([
      ['qa-reviewer', 1],
      [null, 2],
    ]);
  });

  it('do not have a task any more once it is reviewed', async () => {
    await caller.reviewTask({ params: { id: ids.qa_review as string }, body: { decision: 'accept' } });
    const body = { decision: 'send_back', comment: 'Once more.' };
    await caller.reviewTask({ params: { id: ids.other as string }, body });
    expect(await idsOf('waiting_for=review')).toEqual([ids.up_for_review]);
    expect(dataOf<TaskCounts>(await count('waiting_for=review')).total).toBe(1);
  });
});

describe('waiting_for', () => {
  it.each(['waiting_for=review&status=qa_review', 'status=done&waiting_for=review'])('rejects %s', async (query) => {
    for (const send of [list, count]) {
      const { details } = await caller.refuses(() => send(query), 400, 'validation_failed');
      expect(details).toMatchObject([{ path: 'waiting_for', message: expect.stringContaining('status') }]);
    }
  });

  it.each(['waiting_for=approval', 'waiting_for=', 'waiting_for=Review'])('rejects %s', async (query) => {
    for (const send of [list, count]) {
      const { details } = await caller.refuses(() => send(query), 400, 'validation_failed');
      expect(details).toMatchObject([{ path: 'waiting_for' }]);
    }
  });
});
