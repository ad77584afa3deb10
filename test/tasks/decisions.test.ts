import { describe, expect, it } from 'vitest';
import { ApiError } from '../../lib/contract/errors.ts';
import type { TaskPatch, TaskStatus } from '../../lib/contract/tasks.ts';
import type { StoredTask } from '../../lib/table/tasks/task-items.ts';
import { checkDependentsDone, detailed, patched } from '../../lib/tasks/decisions.ts';

const now = '2026-03-02T12:00:00.000Z';
const createdAt = '2026-03-01T12:00:00.000Z';
const [one, two] = ['tk_01K00000000000000000000001', 'tk_01K00000000000000000000002'];
const optional = { description: 'd', assignedAgent: 'writer', projectId: 'proj_1' };
const fields = { title: 'A task', status: 'backlog', priority: 'medium', dependsOn: [one] } as const;

const taskOf = (more: Partial<StoredTask> = {}): StoredTask => ({
  id: 'tk_01K00000000000000000000000',
  ...fields,
  dependsOn: [one],
  ...optional,
  dependents: [two],
  version: 3,
  createdAt,
  updatedAt: createdAt,
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
    expect(patched(task, patch, now)).toBe(task);
  });

  it('is the same object if null removes a field that it does not have', () => {
    const { description: _, assignedAgent: __, projectId: ___, ...bare } = taskOf();
    expect(patched(bare, { description: null, assignedAgent: null, projectId: null }, now)).toBe(bare);
  });

  it.each<TaskPatch>([
    { title: 'Other' },
    { description: '' },
    { status: 'done' },
    { priority: 'low' },
    { assignedAgent: 'tester' },
    { projectId: 'proj_2' },
    { dependsOn: [] },
    { dependsOn: [two, one] },
  ])('has %j, the next version, the time of the change and the other fields as before', (patch) => {
    const task = taskOf();
    expect(patched(task, patch, now)).toEqual({ ...task, ...patch, version: 4, updatedAt: now });
    expect(task).toEqual(taskOf());
  });

  it.each(['description', 'assignedAgent', 'projectId'] as const)('has no %s after null', (field) => {
    const changed = patched(taskOf(), { [field]: null }, now);
    expect(changed[field]).toBeUndefined();
    expect(changed.version).toBe(4);
  });

  it('has its dependencies in another order if only the order changes', () => {
    const changed = patched(taskOf({ dependsOn: [one, two] }), { dependsOn: [two, one] }, now);
    expect(changed).toMatchObject({ dependsOn: [two, one], version: 4 });
  });
});

it('a detailed task has its dependencies in their order, those that are not done in blockedBy, and no field of the store', () => {
  const statuses: TaskStatus[] = ['done', 'up_for_review', 'done', 'backlog'];
  const dependencies = statuses.map((status, at) => taskOf({ id: `tk_${at}`, title: `Task ${at}`, status }));
  const references = statuses.map((status, at) => ({ id: `tk_${at}`, title: `Task ${at}`, status }));
  const { version: _, dependents: __, ...shown } = taskOf();
  expect(detailed(taskOf({ owner: 'ex_1', requestId: 'a request' }), dependencies)).toEqual({
    ...shown,
    dependsOn: references,
    blockedBy: [references[1], references[3]],
  });
});

describe('a deletion', () => {
  const errorOf = (dependents: StoredTask[]) => {
    try {
      checkDependentsDone(dependents);
      return undefined;
    } catch (error) {
      expect(error).toBeInstanceOf(ApiError);
      return error as ApiError;
    }
  };

  it('is allowed if all dependents are done or there are none', () => {
    expect(errorOf([])).toBeUndefined();
    expect(errorOf([taskOf({ status: 'done' }), taskOf({ status: 'done' })])).toBeUndefined();
  });

  it.each(['backlog', 'assigned', 'in_progress', 'qa_review', 'up_for_review'] as const)(
    'throws `has_dependents` if a dependent is %s, and the details name it',
    (status) => {
      const error = errorOf([taskOf({ id: one, status: 'done' }), taskOf({ id: two, status })]);
      expect(error?.code).toBe('has_dependents');
      expect(error?.details).toMatchObject([{ code: 'blocking', message: expect.stringContaining(two) }]);
    },
  );

  it('throws an error with at most 20 details and the number of dependents', () => {
    const error = errorOf(Array.from({ length: 500 }, () => taskOf()));
    expect(error?.details).toHaveLength(20);
    expect(error?.message).toContain('500');
  });
});
