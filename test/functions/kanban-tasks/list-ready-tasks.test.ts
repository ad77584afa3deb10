import { describe, expect, it, vi } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import { ulidOf } from '../../../lib/contract/ids.ts';
import type { Task, TaskCounts } from '../../../lib/contract/tasks/tasks.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { settleDependents } from '../../../lib/tasks/dependents.ts';
import { sweepTasks } from '../../../lib/tasks/due-tasks.ts';
import { dataOf, paginationOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { createTaskCallers } from './task-caller.ts';

vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T12:00:00.000Z') });
const { newTaskCaller, service } = await createTaskCallers();
const caller = newForEachTest(newTaskCaller);

/** Creates a task a millisecond after the one before, so that they have an order. */
function put(fields: Record<string, unknown> = {}): Promise<string> {
  vi.setSystemTime(Date.now() + 1);
  return caller.put(fields);
}
const ready = async (query = '') => dataOf<Task[]>(await caller.listReadyTasks({ query })).map(({ id }) => id);
const next = async (body: object = {}) =>
  dataOf<Task | null>(await caller.claimNextTask({ body: { worker: 'Ada', ...body } }));
const update = (id: string, body: object) => caller.updateTask({ params: { id }, body });
/** Does what the worker does that gets the order for a finished or reopened task. */
const follow = (id: string) => settleDependents(processContext(), caller.organization, id);

/** Returns the rows of a task in the list of all tasks, by their facets. */
async function facetsOf(id: string): Promise<string[]> {
  const { rows } = keys.taskScope(caller.organization, {});
  const names = Object.keys(await caller.dump()).filter((name) => name.startsWith(`${rows} `));
  return names
    .filter((name) => name.endsWith(ulidOf(id)))
    .map((name) => name.slice(rows.length + 1).split('#')[0] ?? '');
}

describe('ready tasks', () => {
  it('are those in backlog or assigned, by priority and then by age', async () => {
    const low = await put({ priority: 'low' });
    const first = await put({ status: 'assigned' });
    const second = await put();
    const critical = await put({ priority: 'critical' });
    for (const status of ['in_progress', 'qa_review', 'up_for_review', 'done']) await put({ status });
    expect(await ready()).toEqual([critical, first, second, low]);
    expect(await ready('limit=2')).toEqual([critical, first]);
  });

  it('can be those of an agent, of a project, or both', async () => {
    const [both, ofAgent, ofProject] = [
      await put({ assignedAgent: 'qa-reviewer', projectId: 'proj_1' }),
      await put({ assignedAgent: 'qa-reviewer' }),
      await put({ projectId: 'proj_1' }),
    ];
    expect(await ready('assigned_agent=qa-reviewer')).toEqual([both, ofAgent]);
    expect(await ready('project_id=proj_1')).toEqual([both, ofProject]);
    expect(await ready('assigned_agent=qa-reviewer&project_id=proj_1')).toEqual([both]);
  });

  it('are neither claimed nor stopped', async () => {
    const [claimed, stopped, free] = [await put(), await put(), await put()];
    await caller.claimTask({ params: { id: claimed }, body: { worker: 'Ada' } });
    for (let nth = 0; nth < 3; nth++) {
      const params = { id: stopped };
      const { claim } = dataOf<Task>(await caller.claimTask({ params, body: { worker: 'Ada' } }));
      await caller.releaseTask({ params, body: { claimId: claim?.id, failed: true } });
    }
    expect(await ready()).toEqual([free]);
    expect(await facetsOf(stopped)).toEqual(['wm']);
    await caller.takeBackTask({ params: { id: stopped } });
    expect(await ready()).toEqual([stopped, free]);
  });

  it('are not worked on by an execution, although somebody has changed the status', async () => {
    const id = await put();
    await caller.executeAgent({ params: { name: 'qa-reviewer' }, body: { input: 'Look.', taskId: id } });
    await update(id, { status: 'backlog' });
    expect(await ready()).toEqual([]);
    expect(await next()).toBeNull();
  });

  it('are not blocked: a task follows its dependencies when they are done, and when one is reopened', async () => {
    const [one, other] = [await put(), await put()];
    const id = await put({ dependsOn: [one, other], priority: 'high', assignedAgent: 'qa-reviewer' });
    expect([await ready(), await facetsOf(id)]).toEqual([[one, other], ['wh']]);
    await update(one, { status: 'done' });
    await follow(one);
    expect(await ready()).toEqual([other]);
    await update(other, { status: 'done' });
    // Nothing has followed yet; the task is offered from then on.
    expect(await ready()).toEqual([]);
    await follow(other);
    expect([await ready(), await facetsOf(id)]).toEqual([[id], ['bh']]);
    expect(await ready('assigned_agent=qa-reviewer')).toEqual([id]);
    await update(one, { status: 'in_progress' });
    // It is not shown from the very moment on.
    expect(await ready()).toEqual([]);
    await follow(one);
    expect(await facetsOf(id)).toEqual(['wh']);
  });

  it('has those whose dependencies were removed, at once', async () => {
    const dependency = await put({ status: 'in_progress' });
    const id = await put({ dependsOn: [dependency] });
    await update(id, { dependsOn: [] });
    expect(await ready()).toEqual([id]);
    await update(id, { dependsOn: [dependency] });
    expect([await ready(), await facetsOf(id)]).toEqual([[], ['wm']]);
  });

  it('has a task that was made before there were such rows and is blocked put right by the read that finds it', async () => {
    const dependency = await put({ status: 'in_progress' });
    const id = await put();
    // As version 0.2.0 stored a task with a dependency.
    await caller.setAttribute(id, 'dependsOn', [dependency]);
    expect([await ready(), await facetsOf(id)]).toEqual([[], ['wm']]);
    expect(paginationOf(await caller.listTasks({ query: 'status=backlog' })).total).toBe(1);
  });
});

it('a list and a count by status have held tasks too', async () => {
  const dependency = await put();
  const held = await put({ dependsOn: [dependency] });
  const free = await put();
  const listed = async (query: string) => {
    const answer = await caller.listTasks({ query });
    return [dataOf<Task[]>(answer).map(({ id }) => id), paginationOf(answer).total];
  };
  expect(await listed('status=backlog')).toEqual([[free, held, dependency], 3]);
  expect(await listed('status=backlog&limit=1&offset=1')).toEqual([[held], 3]);
  expect(await listed('priority=medium&limit=2')).toEqual([[free, held], 3]);
  expect(dataOf<TaskCounts>(await caller.countTasks()).groups[0]).toEqual({ value: 'backlog', count: 3 });
});

it('the sweeper lets dependents follow whose order was lost', async () => {
  const dependency = await put();
  const id = await put({ dependsOn: [dependency] });
  await update(dependency, { status: 'done' });
  const sweep = (afterMs: number) => sweepTasks(processContext(), { until: Date.now() + afterMs });
  await sweep(50_000);
  expect(await ready()).toEqual([]);
  await sweep(70_000);
  expect(await ready()).toEqual([id]);
});

it('a status change of a held task whose dependencies are done offers it', async () => {
  const dependency = await put();
  const id = await put({ dependsOn: [dependency] });
  await update(dependency, { status: 'done' });
  await update(id, { status: 'assigned' });
  expect(await ready()).toEqual([id]);
});

describe('the next task', () => {
  it('is claimed, of the highest priority', async () => {
    await put({ priority: 'low' });
    const high = await put({ priority: 'high' });
    expect(await next({ leaseSeconds: 60 })).toMatchObject({
      id: high,
      status: 'in_progress',
      claim: { worker: 'Ada' },
    });
    expect(await ready()).not.toContain(high);
  });

  it('is null if there is none, also for a filter', async () => {
    expect(await next()).toBeNull();
    await put();
    expect(await next({ projectId: 'proj_other' })).toBeNull();
    expect(await next({ assignedAgent: 'qa-reviewer' })).toBeNull();
  });

  it('is none of an agent that starts by itself, unless the request names it', async () => {
    await caller.updateAgent({ params: { name: 'qa-reviewer' }, body: { autoRun: true } });
    const own = await put({ assignedAgent: 'qa-reviewer', priority: 'critical' });
    const other = await put();
    expect(await next()).toMatchObject({ id: other });
    expect(await next()).toBeNull();
    expect(await next({ assignedAgent: 'qa-reviewer' })).toMatchObject({ id: own });
  });

  it('is another one for each of thirty workers that ask at the same time, as long as there are some', async () => {
    const created = await Promise.all(Array.from({ length: 25 }, () => put()));
    const answers = await Promise.all(Array.from({ length: 30 }, (_, nth) => next({ worker: `worker ${nth}` })));
    const taken = answers.flatMap((task) => task?.id ?? []);
    expect(taken.toSorted()).toEqual(created.toSorted());
    expect(answers.filter((task) => task === null)).toHaveLength(5);
  });
});

it('the tasks that wait for others, however many are in front, take no request and no read unit', async () => {
  const dependency = await put({ status: 'in_progress' });
  await Promise.all(Array.from({ length: 50 }, () => put({ dependsOn: [dependency] })));
  const id = await put();
  // A page of each status and priority, and the task.
  expect(await readsOf(async () => expect(await ready()).toEqual([id]))).toBe(9);
});

/** Returns how many reads of the table an action sends, each of at most 20 rows or tasks here. */
async function readsOf(action: () => Promise<unknown>): Promise<number> {
  const { client } = service.table;
  const send = client.send.bind(client);
  let count = 0;
  client.send = ((command: { constructor: { name: string } }) => {
    if (/Query|BatchGet/.test(command.constructor.name)) count += 1;
    return send(command as never);
  }) as never;
  try {
    await action();
    return count;
  } finally {
    client.send = send as never;
  }
}
