import { describe, expect, it } from 'vitest';
import { ApiError } from '../../lib/contract/errors.ts';
import type { TaskStatus } from '../../lib/contract/tasks.ts';
import type { StoredTask } from '../../lib/table/tasks/task-items.ts';
import { checkDependentsDone, detailed, patched } from '../../lib/tasks/decisions.ts';

const now = '2026-03-02T12:00:00.000Z';
const [one, two] = ['tk_01K00000000000000000000001', 'tk_01K00000000000000000000002'];

function taskOf(more: Partial<StoredTask> = {}): StoredTask {
  return {
    id: 'tk_01K00000000000000000000000',
    title: 'A task',
    description: 'd',
    status: 'backlog',
    priority: 'medium',
    assignedAgent: 'writer',
    projectId: 'proj_1',
    dependsOn: [one],
    dependents: [two],
    version: 3,
    createdAt: '2026-03-01T12:00:00.000Z',
    updatedAt: '2026-03-01T12:00:00.000Z',
    ...more,
  };
}

describe('a patched task', () => {
  it.each([
    ['nothing', {}],
    ['its own values', { title: 'A task', status: 'backlog', priority: 'medium', dependsOn: [one] }],
    ['its own optional values', { description: 'd', assignedAgent: 'writer', projectId: 'proj_1' }],
    ['undefined', { title: undefined, description: undefined }],
  ] as const)('is the same object for %s', (_, patch) => {
    const task = taskOf();
    expect(patched(task, patch as Parameters<typeof patched>[1], now)).toBe(task);
  });

  it('is the same object if null removes a field that it does not have', () => {
    const { description: _, assignedAgent: __, projectId: ___, ...bare } = taskOf();
    expect(patched(bare, { description: null, assignedAgent: null, projectId: null }, now)).toBe(bare);
  });

  it.each([
    { title: 'Other' },
    { description: '' },
    { status: 'done' },
    { priority: 'low' },
    { assignedAgent: 'tester' },
    { projectId: 'proj_2' },
    { dependsOn: [] },
    { dependsOn: [two, one] },
  ] as const)('has %j, the next version, the time of the change and the other fields as before', (patch) => {
    const changed = patched(taskOf(), patch as Parameters<typeof patched>[1], now);
    expect(changed).toEqual({ ...taskOf(), ...patch, version: 4, updatedAt: now });
  });

  it.each(['description', 'assignedAgent', 'projectId'] as const)('has no %s after null', (field) => {
    const changed = patched(taskOf(), { [field]: null }, now);
    expect(changed[field]).toBeUndefined();
    expect(changed.version).toBe(4);
  });

  it('has its dependencies in another order if only the order changes', () => {
    const changed = patched(taskOf({ dependsOn: [one, two] }), { dependsOn: [two, one] }, now);
    expect(changed.dependsOn).toEqual([two, one]);
    expect(changed.version).toBe(4);
  });

  it('is a new object: the task before stays as it is', () => {
    const task = taskOf();
    patched(task, { title: 'Other', description: null, dependsOn: [] }, now);
    expect(task).toEqual(taskOf());
  });
});

describe('a detailed task', () => {
  it('has its dependencies in their order, those that are not done in blockedBy, and no field of the store', () => {
    const statuses: TaskStatus[] = ['done', 'up_for_review', 'done', 'backlog'];
    const dependencies = statuses.map((status, at) => taskOf({ id: `tk_${at}`, title: `Task ${at}`, status }));
    const { dependsOn, blockedBy, ...rest } = detailed(taskOf(), dependencies);
    expect(dependsOn.map(({ id, status }) => [id, status])).toEqual([
      ['tk_0', 'done'],
      ['tk_1', 'up_for_review'],
      ['tk_2', 'done'],
      ['tk_3', 'backlog'],
    ]);
    expect(blockedBy).toEqual([
      { id: 'tk_1', title: 'Task 1', status: 'up_for_review' },
      { id: 'tk_3', title: 'Task 3', status: 'backlog' },
    ]);
    expect(rest).not.toHaveProperty('version');
    expect(rest).not.toHaveProperty('dependents');
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
      expect(error?.details).toHaveLength(1);
      expect(error?.details[0]).toMatchObject({ code: 'blocking', message: expect.stringContaining(two) });
    },
  );

  it('throws an error with at most 20 details and the number of dependents', () => {
    const error = errorOf(Array.from({ length: 500 }, () => taskOf()));
    expect(error?.details).toHaveLength(20);
    expect(error?.message).toContain('500');
  });
});
