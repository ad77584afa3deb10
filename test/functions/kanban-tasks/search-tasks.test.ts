import { describe, expect, it } from 'vitest';
import { maxTasksSearched } from '../../../lib/contract/tasks/task-search.ts';
import type { Task } from '../../../lib/contract/tasks/tasks.ts';
import { searchEntry } from '../../../lib/table/tasks/search-entries.ts';
import { type StoredTask, taskItem } from '../../../lib/table/tasks/task-items.ts';
import { dataOf, paginationOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { bareTasks, writeItems } from '../../table/tasks/seed.ts';
import { publish } from '../pipeline/call-functions.ts';
import { createTaskCallers } from './task-caller.ts';

const { service, newTaskCaller } = await createTaskCallers();
const caller = newForEachTest(newTaskCaller);

let position: string | undefined;

/** Publishes the changes that were not published yet. */
async function follow(): Promise<void> {
  const records = await service.changes.after(position, 10_000);
  position = records.at(-1)?.dynamodb?.SequenceNumber ?? position;
  expect(await publish(...records)).toEqual([]);
}

/** Returns a page of a search: the titles of its tasks, and its `next`. */
async function found(query: string) {
  const answer = await caller.searchTasks({ query });
  expect(answer.status).toBe(200);
  const { next } = paginationOf(answer) as unknown as { next: string | null };
  return { titles: dataOf<Task[]>(answer).map(({ title }) => title), next };
}

const titlesOf = async (query: string) => (await found(query)).titles;

describe('a search', () => {
  it('finds tasks by the beginnings of the words of their titles, of its own organization only', async () => {
    await (await newTaskCaller()).put({ title: 'Build the landing page' });
    const id = await caller.put({ title: 'Build the landing page', description: 'With tests', priority: 'high' });
    await caller.put({ title: 'Repaint the building' });
    await follow();
    const answer = await caller.searchTasks({ query: 'q=PAGE+land' });
    const task = dataOf<object>(await caller.getTask({ params: { id } })) as Task & { blockedBy?: unknown };
    const { blockedBy, ...listed } = task;
    expect(answer.body).toEqual({ success: true, data: [listed], pagination: { limit: 20, next: null } });
    expect(await titlesOf('q=build&limit=5')).toEqual(expect.arrayContaining(['Repaint the building']));
    for (const q of ['tests', 'age', 'landing+zebra']) expect([q, await titlesOf(`q=${q}`)]).toEqual([q, []]);
  });

  it('has a new task, another title and other fields as soon as the stream was read', async () => {
    const id = await caller.put({ title: 'Draw a house' });
    expect(await titlesOf('q=house')).toEqual([]);
    await follow();
    expect(await titlesOf('q=house&status=backlog')).toEqual(['Draw a house']);
    await caller.updateTask({ params: { id }, body: { title: 'Draw a boat', status: 'done' } });
    // The entry has the former title; the task decides.
    expect(await titlesOf('q=house')).toEqual([]);
    expect(await titlesOf('q=draw&status=backlog')).toEqual([]);
    await follow();
    expect(await titlesOf('q=boat&status=done')).toEqual(['Draw a boat']);
    expect(await titlesOf('q=house')).toEqual([]);
  });

  it('has no deleted task, before and after the stream was read', async () => {
    const id = await caller.put({ title: 'Draw a house' });
    await follow();
    await caller.deleteTask({ params: { id } });
    expect(await found('q=house')).toEqual({ titles: [], next: null });
    await follow();
    expect(await found('q=house')).toEqual({ titles: [], next: null });
  });

  it('is filtered by each parameter, and by all of them', async () => {
    const of = (title: string, fields: object) => caller.put({ title: `Task ${title}`, ...fields });
    const agent = { assignedAgent: 'qa-reviewer', projectId: 'proj_1' };
    await of('a', { priority: 'high' });
    await of('b', { status: 'done', priority: 'low', ...agent });
    await of('c', { status: 'done', priority: 'high', projectId: 'proj_1' });
    await follow();
    const filtered: [query: string, titles: string[]][] = [
      ['status=done', ['Task b', 'Task c']],
      ['priority=high', ['Task a', 'Task c']],
      ['assigned_agent=qa-reviewer', ['Task b']],
      ['project_id=proj_1', ['Task b', 'Task c']],
      ['assigned_agent=qa-reviewer&project_id=proj_1&status=done&priority=low', ['Task b']],
      ['assigned_agent=missing-agent', []],
    ];
    for (const [query, titles] of filtered)
      expect([query, (await titlesOf(`q=task&${query}`)).sort()]).toEqual([query, titles]);
  });

  it('has tasks that wait for others, and those that a worker has claimed', async () => {
    const first = await caller.put({ title: 'First task' });
    await caller.put({ title: 'Second task', dependsOn: [first] });
    await caller.claimTask({ params: { id: first }, body: { worker: 'Ada' } });
    await follow();
    const tasks = dataOf<Task[]>(await caller.searchTasks({ query: 'q=task' }));
    expect(tasks.find(({ id }) => id === first)).toMatchObject({ status: 'in_progress', claim: { worker: 'Ada' } });
    expect(await titlesOf('q=task&status=backlog')).toEqual(['Second task']);
  });

  it('is newest first, in pages that lead to each other', async () => {
    const titles = ['One', 'Two', 'Three', 'Four', 'Five'].map((number) => `${number} task`);
    const ids: string[] = [];
    for (const title of titles) ids.push(await caller.put({ title }));
    await follow();
    const newest = ids.toSorted().toReversed();
    const expected = newest.map((id) => titles[ids.indexOf(id)]);
    const first = await found('q=task&limit=2');
    expect(first).toEqual({ titles: expected.slice(0, 2), next: newest[1] });
    const second = await found(`q=task&limit=2&before=${first.next}`);
    expect(second).toEqual({ titles: expected.slice(2, 4), next: newest[3] });
    expect(await found(`q=task&limit=2&before=${second.next}`)).toEqual({ titles: expected.slice(4), next: null });
    expect(await found(`q=task&limit=5`)).toEqual({ titles: expected, next: null });
    // The task that `before` names need not exist, or match.
    expect(await found(`q=task&before=tk_00000000000000000000000000`)).toEqual({ titles: [], next: null });
    expect((await found(`q=task&before=tk_7ZZZZZZZZZZZZZZZZZZZZZZZZZ`)).titles).toEqual(expected);
  });

  it('without a letter or a digit finds nothing', async () => {
    await caller.put({ title: '!! ?? 😀😀' });
    await follow();
    for (const q of ['!!', '😀😀', '--+--'])
      expect(await found(`q=${encodeURIComponent(q)}`)).toEqual({ titles: [], next: null });
  });

  it('stops after 10,000 tasks and says where the list goes on, although it has found none', async () => {
    const start = Date.UTC(2026, 0, 1);
    const tasks = bareTasks(maxTasksSearched + 1, (nth) => start - nth);
    const oldest = { ...(tasks.pop() as StoredTask), title: 'Needle' };
    const entries = [...tasks, oldest].map((task) => searchEntry(caller.organization, task));
    await writeItems(service.table, [...entries, taskItem(caller.organization, oldest)]);
    const first = await found('q=needle');
    expect(first).toEqual({ titles: [], next: tasks.at(-1)?.id });
    expect(await found(`q=needle&before=${first.next}`)).toEqual({ titles: ['Needle'], next: null });
    // The tasks of these entries do not exist.
    expect(await found('q=task&limit=1')).toEqual({ titles: [], next: tasks[0]?.id });
  });
});

describe('a search is refused', () => {
  it.each([
    ['no q', '', 'q'],
    ['a q of one character', 'q=a', 'q'],
    ['a q of one character of two code units', `q=${encodeURIComponent('𠮷')}`, 'q'],
    ['a q of 101 characters', `q=${'a'.repeat(101)}`, 'q'],
    ['a q of white space', 'q=+++', 'q'],
    ['a q with U+0000', 'q=a%00b', 'q'],
    ['a before that is no id of a task', 'q=task&before=ev_01K9Z3T6V0QW8E5R7T9Y1AB2CD', 'before'],
    ['an unknown status', 'q=task&status=open', 'status'],
    ['a limit of 0', 'q=task&limit=0', 'limit'],
    ['an offset', 'q=task&offset=5', 'offset'],
  ])('with 400 validation_failed for %s', async (_, query, path) => {
    const error = await caller.refuses(() => caller.searchTasks({ query }), 400, 'validation_failed');
    expect(error.details?.map((detail) => detail.path)).toEqual([path]);
  });

  it('not for a q of 2 or 100 characters', async () => {
    for (const q of ['𠮷田', 'a'.repeat(100)]) expect(await titlesOf(`q=${encodeURIComponent(q)}`)).toEqual([]);
  });

  it('with 403 insufficient_scope for a token without tasks:read', async () => {
    const writer = await newTaskCaller(['tasks:write']);
    await writer.refuses(() => writer.searchTasks({ query: 'q=task' }), 403, 'insufficient_scope');
  });

  it('with 405 method_not_allowed for other methods than GET', async () => {
    const send = () => caller.updateTask({ params: { id: 'search' }, body: { title: 'A task' } });
    await caller.refuses(send, 405, 'method_not_allowed');
  });
});
