import { describe, expect, it } from 'vitest';
import { dataOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { allDependents, createTaskCallers } from './task-caller.ts';

const { newTaskCaller } = await createTaskCallers();
const absent = 'tk_01K00000000000000000000000';
const absentToo = 'tk_01K00000000000000000000001';
const caller = newForEachTest(newTaskCaller);

const refused = (fields: object, status: number, code: string) =>
  caller.refuses(() => caller.createTask({ body: { title: 't', ...fields } }), status, code);

describe('a create', () => {
  it('answers 201 with the five specified fields and no others, as JSON without an ETag', async () => {
    const body = { title: 'Write the docs', description: 'All pages', status: 'assigned', priority: 'high' };
    const { status, headers, ...answer } = await caller.createTask({ body });
    expect(status).toBe(201);
    expect(answer.body).toEqual({
      success: true,
      data: {
        id: expect.stringMatching(/^tk_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
        title: 'Write the docs',
        status: 'assigned',
        priority: 'high',
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    });
    expect(headers['Content-Type']).toBe('application/json');
    expect(headers).not.toHaveProperty('ETag');
  });

  it('stores every field as it was sent', async () => {
    const sent = {
      title: ' Two  spaces, \u200d and 👩‍🚀 ',
      description: '',
      status: 'qa_review',
      priority: 'critical',
      assignedAgent: 'qa-reviewer',
      projectId: 'proj___proto__',
      dependsOn: [await caller.put()],
    };
    const id = await caller.put(sent);
    const tasks = dataOf<{ id: string }[]>(await caller.listTasks());
    expect(tasks.find((task) => task.id === id)).toMatchObject(sent);
  });
});

describe('a create is refused and written nowhere', () => {
  it('with 422 unknown_reference, whose details name the agent and each dependency that does not exist', async () => {
    const fields = { assignedAgent: 'constructor', dependsOn: [absent, await caller.put(), absentToo] };
    const { details = [] } = await refused(fields, 422, 'unknown_reference');
    expect(details.map(({ path, code }) => `${path} ${code}`).sort()).toEqual([
      'assignedAgent not_found',
      'dependsOn.0 not_found',
      'dependsOn.2 not_found',
    ]);
    expect(JSON.stringify(details)).toContain(absent);
  });

  it("with 422 unknown_reference for another organization's task, which stays as it is", async () => {
    const other = await newTaskCaller();
    const theirs = await other.put();
    const before = await other.dump();
    await refused({ dependsOn: [theirs] }, 422, 'unknown_reference');
    expect(await other.dump()).toEqual(before);
  });

  it('with 409 limit_reached as the 501st dependent of a task, named by its place', async () => {
    const [free, full] = [await caller.put(), await caller.put()];
    await caller.setAttribute(full, 'dependents', allDependents);
    const { details } = await refused({ dependsOn: [free, full] }, 409, 'limit_reached');
    expect(details).toMatchObject([{ path: 'dependsOn.1', code: 'limit' }]);
  });
});
