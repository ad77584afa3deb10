import { ulid } from 'ulid';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../lib/contract/errors.ts';

import { type TaskPatch, type TaskStatus, taskStatuses } from '../../lib/contract/tasks/tasks.ts';
import type { StoredTask } from '../../lib/table/tasks/task-items.ts';
import { checkDependentsDone, detailed, isAssignedTo, patchedTask } from '../../lib/tasks/decisions.ts';
import { checkNoCycle } from '../../lib/tasks/graph.ts';
import { errorOf } from '../table/tasks/test-table.ts';

type Patch = Parameters<typeof patchedTask>[1];

const now = '2026-03-02T12:00:00.000Z';
const createdAt = '2026-03-01T12:00:00.000Z';
const [one, two] = ['tk_01K00000000000000000000001', 'tk_01K00000000000000000000002'];
const optional = { description: 'd', assignedAgent: 'writer', projectId: 'proj_1' };
const fields = { title: 'A task', status: 'backlog', priority: 'medium', dependsOn: [one] } as const;

const taskOf = (more: Partial<StoredTask> = {}): StoredTask => ({
  ...{ id: 'tk_01K00000000000000000000000', ...fields, dependsOn: [one], ...optional, dependents: [two] },
  ...{ version: 3, createdAt, updatedAt: createdAt },
  ...more,
});

describe('a patched task', () => {
  it.each([
    ['nothing', {}],
    ['its own values', { ...fields, dependsOn: [one] }],
    ['its own optional values', optional],
    ['undefined', { title: undefined, description: undefined }],
  ] as [string, TaskPatch][])('is the same object for %s', (_, patch) => {
    const task = taskOf();
    expect(patchedTask(task, patch, now)).toBe(task);
  });

  it('is the same object if null removes a field that it does not have', () => {
    const { description, assignedAgent, projectId, ...bare } = taskOf();
    expect(patchedTask(bare, { description: null, assignedAgent: null, projectId: null }, now)).toBe(bare);
  });

  it.each<TaskPatch>([
    ...[{ title: 'Other' }, { description: '' }, { assignedAgent: 'tester' }, { projectId: 'proj_2' }],
    ...[{ status: 'done' as const }, { priority: 'low' as const }, { dependsOn: [] }, { dependsOn: [two, one] }],
  ])('has %j, the next version, the time of the change and the other fields as before', (patch) => {
    const task = taskOf();
    expect(patchedTask(task, patch, now)).toEqual({ ...task, ...patch, version: 4, updatedAt: now });
    expect(task).toEqual(taskOf());
  });

  it.each(['description', 'assignedAgent', 'projectId'] as const)('has no %s after null', (field) => {
    const changed = patchedTask(taskOf(), { [field]: null }, now);
    expect(changed[field]).toBeUndefined();
    expect(changed.version).toBe(4);
  });

  it('has its dependencies in another order if only the order changes', () => {
    const changed = patchedTask(taskOf({ dependsOn: [one, two] }), { dependsOn: [two, one] }, now);
    expect(changed).toMatchObject({ dependsOn: [two, one], version: 4 });
  });
});

describe('the id of the agent of a task', () => {
  const assigned = taskOf({ assignedAgentId: 'ag_1' });

  it.each<[string | undefined, Patch]>([
    ['ag_1', { title: 'Other' }],
    ['ag_1', { assignedAgent: 'writer' }],
    ['ag_2', { assignedAgent: 'writer', assignedAgentId: 'ag_2' }],
    ['ag_2', { assignedAgent: 'tester', assignedAgentId: 'ag_2' }],
    [undefined, { assignedAgent: 'tester' }],
    [undefined, { assignedAgent: null }],
  ])('is %s after %j', (id, patch) => {
    expect(patchedTask(assigned, patch, now).assignedAgentId).toBe(id);
  });

  it('is a change if it alone is another', () => {
    const patch = { assignedAgent: 'writer', assignedAgentId: 'ag_2' };
    expect(patchedTask(assigned, patch, now)).toEqual({ ...assigned, ...patch, version: 4, updatedAt: now });
  });
});

describe('a task is assigned to an agent', () => {
  const agentAt = (time: string) => ({ id: `ag_${ulid(Date.parse(time))}`, name: 'writer' });
  const agent = agentAt(createdAt);

  it.each<[boolean, string, Partial<StoredTask>]>([
    [true, 'of its id', { assignedAgentId: agent.id }],
    [false, 'of another id with its name', { assignedAgentId: agentAt(createdAt).id }],
    [false, 'of its id with another name', { assignedAgentId: agent.id, assignedAgent: 'tester' }],
    [false, 'of no name', { assignedAgent: undefined }],
    // As a version stored it that knew no ids.
    [true, 'of its name, if it is as old as the last change', { updatedAt: createdAt }],
    [true, 'of its name, if it is older than the last change', { updatedAt: now }],
    [false, 'of its name, if it is younger than the last change', { updatedAt: '2026-03-01T11:59:59.999Z' }],
  ])('(%s) %s', (expected, _, fields) => {
    expect(isAssignedTo(taskOf(fields), agent)).toBe(expected);
  });
});

it('a detailed task has its dependencies in their order, those that are not done in blockedBy, and no field of the store', () => {
  const statuses: TaskStatus[] = ['done', 'up_for_review', 'done', 'backlog'];
  const dependencies = statuses.map((status, at) => taskOf({ id: `tk_${at}`, title: `Task ${at}`, status }));
  const references = statuses.map((status, at) => ({ id: `tk_${at}`, title: `Task ${at}`, status }));
  const { version, dependents, ...shown } = taskOf();
  const storedOnly = { owner: 'ex_1', createdBy: 'ag_1', assignedAgentId: 'ag_1', requestId: 'a request' };
  expect(detailed(taskOf(storedOnly), dependencies)).toEqual({
    ...shown,
    dependsOn: references,
    blockedBy: [references[1], references[3]],
  });
});

describe('a deletion', () => {
  const errorFor = (dependents: StoredTask[]) => errorOf(Promise.resolve(dependents).then(checkDependentsDone));

  it('is allowed if all dependents are done or there are none', async () => {
    expect(await errorFor([])).toBeUndefined();
    expect(await errorFor([taskOf({ status: 'done' }), taskOf({ status: 'done' })])).toBeUndefined();
  });

  it.each(taskStatuses.filter((status) => status !== 'done'))(
    'throws `has_dependents` if a dependent is %s, and the details name it',
    async (status) => {
      const details = [{ code: 'blocking', message: expect.stringContaining(two) }];
      const error = await errorFor([taskOf({ id: one, status: 'done' }), taskOf({ id: two, status })]);
      expect(error).toMatchObject({ code: 'has_dependents', details });
    },
  );

  it('throws an error with at most 20 details and the number of dependents', async () => {
    const error = await errorFor(Array.from({ length: 500 }, () => taskOf()));
    expect([error?.details.length, error?.message]).toEqual([20, expect.stringContaining('500')]);
  });
});

/** Creates tasks with dependencies, and records which of them are read. */
function graphOf(dependencies: Record<string, string[]>) {
  const reads: string[][] = [];
  return {
    reads,
    read: async (ids: string[]) => {
      reads.push(ids);
      return ids.filter((id) => dependencies[id]).map((id) => ({ id, dependsOn: dependencies[id] ?? [] }));
    },
  };
}

/** Returns the error of a change to `dependsOn`, if there is one. */
const errorOfChange = (id: string, dependsOn: string[], dependencies: Record<string, string[]>, added = dependsOn) =>
  errorOf(checkNoCycle(id, added, dependsOn, graphOf(dependencies).read));

describe('a dependency', () => {
  it.each<[string, string[], Record<string, string[]>]>([
    ['on a task that depends on nothing', ['b'], { b: [] }],
    ['on a chain', ['b'], { b: ['c'], c: ['d'], d: [] }],
    ['on both ends of a diamond', ['b', 'c'], { b: ['d'], c: ['d'], d: [] }],
    ['on a deleted task', ['b'], {}],
    ['on a chain that ends in a deleted task', ['b'], { b: ['c'] }],
    ['on tasks that are a cycle themselves', ['b'], { b: ['c'], c: ['b'] }],
  ])('%s is allowed', async (_, dependsOn, tasks) => {
    expect(await errorOfChange('a', dependsOn, tasks)).toBeUndefined();
  });

  it.each<[string, string[], Record<string, string[]>, number, string]>([
    ['on itself', ['a'], {}, 0, 'a → a'],
    ['on a task that depends on it', ['b'], { b: ['a'] }, 0, 'a → b → a'],
    ['in a cycle of three', ['x', 'b'], { x: [], b: ['c'], c: ['a'] }, 1, 'a → b → c → a'],
    ['in a cycle after a diamond', ['b'], { b: ['c', 'd'], c: ['e'], d: ['e'], e: ['a'] }, 0, 'a → b → c → e → a'],
    ['in two cycles (the shorter is named)', ['b', 'c'], { b: ['d'], d: ['a'], c: ['a'] }, 1, 'a → c → a'],
  ])('%s throws `dependency_cycle` with its path', async (_, dependsOn, tasks, place, path) => {
    const error = await errorOfChange('a', dependsOn, tasks);
    expect(error?.code).toBe('dependency_cycle');
    const message = expect.stringContaining(path);
    expect(error?.details).toEqual([{ path: `dependsOn.${place}`, code: 'cycle', message }]);
  });

  it('is named by its index in the new dependencies', async () => {
    const error = await errorOfChange('a', ['kept', 'also-kept', 'b'], { b: ['a'] }, ['b']);
    expect(error?.details[0]?.path).toBe('dependsOn.2');
  });

  it('in a cycle of 50 tasks throws an error with at most 20 ids', async () => {
    const name = (at: number) => `task-${String(at).padStart(2, '0')}`;
    const cycle = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [name(at), [name((at + 1) % 50)]]));
    const error = await errorOfChange(name(0), [name(1)], cycle);
    expect(error?.code).toBe('dependency_cycle');
    expect(JSON.stringify(error?.details).match(/task-\d\d/g)?.length).toBeLessThanOrEqual(20);
  });
});

it('the search for a cycle reads level by level, each task once', async () => {
  const graph = graphOf({ b: ['d', 'e'], c: ['e'], d: ['f'], e: ['f'], f: [] });
  await checkNoCycle('a', ['b', 'c'], ['b', 'c'], graph.read);
  expect(graph.reads).toEqual([['b', 'c'], ['d', 'e'], ['f']]);
});

it('the search for a cycle starts from the added dependencies only, and reads no task if there are none', async () => {
  const graph = graphOf({ kept: ['far'], added: [] });
  await checkNoCycle('a', ['added'], ['kept', 'added'], graph.read);
  await checkNoCycle('a', [], ['kept'], graph.read);
  expect(graph.reads).toEqual([['added']]);
});

it('the search for a cycle stops when it finds a cycle', async () => {
  const graph = graphOf({ b: ['a', 'c'], c: ['d'], d: [] });
  await expect(checkNoCycle('a', ['b'], ['b'], graph.read)).rejects.toThrow(ApiError);
  expect(graph.reads).toEqual([['b']]);
});
