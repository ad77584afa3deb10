import { describe, expect, it } from 'vitest';
import type { TaskReference } from '../../../../../lib/client/operations.ts';
import { changesOf, newTaskOf, patchOf, valuesOf } from '../../../../../lib/console/screens/board/form/task-values.ts';

const first: TaskReference = { id: 'tk_1', title: 'First', status: 'backlog' };
const before = valuesOf({ title: 'Title', description: 'One\r\ntwo', assignedAgent: 'writer', dependsOn: [first] });

describe('the values of the form of a task', () => {
  it('begin with the defaults of a new task', () => {
    expect(valuesOf({})).toEqual({
      ...{ title: '', description: '', status: 'backlog', priority: 'medium' },
      ...{ assignedAgent: '', projectId: '', dependsOn: [] },
    });
  });

  it('have no changes while all are as before, also after they were changed back', () => {
    expect(changesOf({ ...before, dependsOn: [{ ...first }] }, before)).toBeUndefined();
  });

  it('have the changes of a draft as they were typed, also a space at the end', () => {
    const changes = { title: 'Title ', dependsOn: [] };
    expect(changesOf({ ...before, ...changes }, before)).toEqual(changes);
  });

  it('create a task without empty fields', () => {
    expect(newTaskOf({ ...valuesOf({}), title: ' New ', projectId: ' ', dependsOn: [first] })).toEqual({
      ...{ title: 'New', status: 'backlog', priority: 'medium', dependsOn: ['tk_1'] },
    });
  });

  it('change only what differs, and clear an optional field that is empty', () => {
    const after = { ...before, title: 'Title ', description: 'One\ntwo', assignedAgent: '', dependsOn: [] };
    expect(patchOf(before, after)).toEqual({ assignedAgent: null, dependsOn: [] });
    expect(patchOf(before, before)).toEqual({});
  });
});
