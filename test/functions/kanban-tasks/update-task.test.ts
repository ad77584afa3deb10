import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { TaskDetail } from '../../../lib/contract/tasks.ts';
import { keys } from '../../../lib/table/keys.ts';
import { dataOf } from '../../api.ts';
import { createTaskCallers } from './task-caller.ts';

vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T12:00:00.000Z') });
afterAll(() => vi.useRealTimers());

const { newTaskCaller, service } = await createTaskCallers();
const absent = 'tk_01K00000000000000000000000';

/** Lets a minute pass. */
const wait = () => vi.setSystemTime(Date.now() + 60_000);

describe('a patch', () => {
  it('answers the task with exactly the set fields, dependsOn as ids and no blockedBy', async () => {
    const caller = await newTaskCaller();
    const first = await caller.put();
    const id = await caller.put({ dependsOn: [first] });
    const answer = await caller.updateTask({ params: { id }, body: { title: 'New' } });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).toEqual(['success', 'data']);
    expect(Object.keys(dataOf(answer))).toEqual([
      'id',
      'title',
      'status',
      'priority',
      'dependsOn',
      'createdAt',
      'updatedAt',
    ]);
    expect(dataOf(answer)).toMatchObject({ id, title: 'New', dependsOn: [first] });
  });

  it('answers what a read answers afterwards', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put();
    const patch = {
      title: 'New',
      description: 'd',
      status: 'qa_review',
      priority: 'low',
      assignedAgent: 'qa-reviewer',
      projectId: 'proj_1',
    };
    const changed = await caller.updateTask({ params: { id }, body: patch });
    const read = await caller.getTask({ params: { id } });
    const { blockedBy: _, ...shown } = dataOf<TaskDetail>(read);
    expect(dataOf(changed)).toMatchObject(patch);
    expect(shown).toEqual(dataOf(changed));
    expect(read.headers.ETag).toBe(changed.headers.ETag);
  });

  it.each([
    ['title', 'Other'],
    ['description', 'Other'],
    ['status', 'done'],
    ['priority', 'critical'],
    ['assignedAgent', 'prompt-improver'],
    ['projectId', 'proj_2'],
  ])('of %s changes that field, updatedAt and the ETag alone', async (field, value) => {
    const caller = await newTaskCaller();
    const id = await caller.put({ description: 'd', assignedAgent: 'qa-reviewer', projectId: 'proj_1' });
    const before = dataOf<TaskDetail>(await caller.getTask({ params: { id } }));
    wait();
    const answer = await caller.updateTask({ params: { id }, body: { [field]: value } });
    const { blockedBy: _, ...rest } = before;
    expect(dataOf(answer)).toEqual({ ...rest, [field]: value, updatedAt: new Date().toISOString() });
    expect(answer.headers.ETag).toBe('"2"');
  });

  it.each(['description', 'assignedAgent', 'projectId'])('with null clears %s', async (field) => {
    const caller = await newTaskCaller();
    const id = await caller.put({ description: 'd', assignedAgent: 'qa-reviewer', projectId: 'proj_1' });
    const answer = await caller.updateTask({ params: { id }, body: { [field]: null } });
    expect(answer.status).toBe(200);
    expect(dataOf(answer)).not.toHaveProperty(field);
    expect(dataOf(await caller.getTask({ params: { id } }))).not.toHaveProperty(field);
  });

  it('with an empty description keeps an empty description', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put({ description: 'd' });
    expect(dataOf(await caller.updateTask({ params: { id }, body: { description: '' } }))).toMatchObject({
      description: '',
    });
  });

  it.each([
    ['an empty object', {}],
    ['no body at all', undefined],
    ['the values that the task has', { title: 'A task', status: 'backlog', priority: 'medium', dependsOn: [] }],
    ['null for what is not set', { description: null, assignedAgent: null, projectId: null }],
  ])('of %s writes nothing and keeps ETag and updatedAt', async (_, patch) => {
    const caller = await newTaskCaller();
    const id = await caller.put();
    const [before, read] = [await caller.dump(), await caller.getTask({ params: { id } })];
    wait();
    const answer = await caller.updateTask({ params: { id }, body: patch });
    expect(answer.status).toBe(200);
    expect(answer.headers.ETag).toBe(read.headers.ETag);
    expect(dataOf(answer).updatedAt).toBe(dataOf(read).updatedAt);
    expect(await caller.dump()).toEqual(before);
  });

  it('of any status to any other is allowed, done of a blocked task included', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put({ dependsOn: [await caller.put()] });
    for (const status of ['done', 'backlog', 'up_for_review', 'in_progress', 'assigned', 'qa_review'])
      expect(dataOf(await caller.updateTask({ params: { id }, body: { status } }))).toMatchObject({ status });
  });

  it('moves the task in every list that shows it', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put({ projectId: 'proj_1' });
    await caller.updateTask({
      params: { id },
      body: { status: 'done', projectId: 'proj_2', assignedAgent: 'qa-reviewer' },
    });
    const shown = async (query: string) =>
      dataOf<{ id: string }[]>(await caller.listTasks({ query })).map((task) => task.id);
    expect(await shown('project_id=proj_1')).toEqual([]);
    expect(await shown('status=backlog')).toEqual([]);
    expect(await shown('project_id=proj_2&status=done&assigned_agent=qa-reviewer')).toEqual([id]);
  });

  it('keeps an agent that no longer exists, unless the update names it', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put();
    await service.table.client.send(
      new UpdateCommand({
        TableName: service.tableName,
        Key: keys.task(caller.organization, id.slice(3)),
        UpdateExpression: 'SET assignedAgent = :gone',
        ExpressionAttributeValues: { ':gone': 'gone' },
      }),
    );
    expect((await caller.updateTask({ params: { id }, body: { assignedAgent: 'gone', title: 'New' } })).status).toBe(
      200,
    );
  });
});

describe('a patch is refused and written nowhere', () => {
  it.each([
    ['a null title', { title: null }, [{ path: 'title' }]],
    ['a null status', { status: null }, [{ path: 'status' }]],
    ['a null priority', { priority: null }, [{ path: 'priority' }]],
    ['a null dependsOn', { dependsOn: null }, [{ path: 'dependsOn' }]],
    ['a title of white space', { title: '  ' }, [{ path: 'title', code: 'invalid_value' }]],
    ['an unknown status', { status: 'finished' }, [{ path: 'status', code: 'invalid_value' }]],
    ['an agent in capitals', { assignedAgent: 'QA' }, [{ path: 'assignedAgent', code: 'invalid_value' }]],
    ['a project without its prefix', { projectId: 'docs' }, [{ path: 'projectId', code: 'invalid_value' }]],
    ['a dependency twice', { dependsOn: [absent, absent] }, [{ path: 'dependsOn', code: 'invalid_value' }]],
    ['an id of another kind', { dependsOn: ['ex_1'] }, [{ path: 'dependsOn.0', code: 'invalid_value' }]],
    ['a read-only id', { id: absent }, [{ path: 'id', code: 'read_only' }]],
    ['a read-only createdAt', { createdAt: '2026-01-01T00:00:00.000Z' }, [{ path: 'createdAt', code: 'read_only' }]],
    ['a read-only updatedAt', { updatedAt: '2026-01-01T00:00:00.000Z' }, [{ path: 'updatedAt', code: 'read_only' }]],
    ['a version', { version: 7 }, [{ path: 'version', code: 'unknown_field' }]],
    ['dependents', { dependents: [] }, [{ path: 'dependents', code: 'unknown_field' }]],
    ['an array', [], [{ path: '', code: 'invalid_type' }]],
  ])('with 400 validation_failed for %s', async (_, patch, details) => {
    const caller = await newTaskCaller();
    const id = await caller.put();
    const error = await caller.refuses(
      () => caller.updateTask({ params: { id }, body: patch }),
      400,
      'validation_failed',
    );
    expect(error.details).toMatchObject(details);
  });

  it('with 400 validation_failed for 26 dependencies', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put();
    const dependsOn = Array.from(
      { length: 26 },
      (_, at) => `tk_01K000000000000000000000${String(at).padStart(2, '0')}`,
    );
    await caller.refuses(() => caller.updateTask({ params: { id }, body: { dependsOn } }), 400, 'validation_failed');
  });

  it('with 422 unknown_reference for an agent that does not exist', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put();
    const error = await caller.refuses(
      () => caller.updateTask({ params: { id }, body: { assignedAgent: 'missing-agent' } }),
      422,
      'unknown_reference',
    );
    expect(error.details).toMatchObject([{ path: 'assignedAgent', code: 'not_found' }]);
  });

  it('with 404 not_found for a task that does not exist', async () => {
    const caller = await newTaskCaller();
    await caller.refuses(() => caller.updateTask({ params: { id: absent }, body: { title: 'New' } }), 404, 'not_found');
  });

  it('with 404 not_found for an impossible id', async () => {
    const caller = await newTaskCaller();
    await caller.refuses(
      () => caller.updateTask({ params: { id: 'constructor' }, body: { title: 'New' } }),
      404,
      'not_found',
    );
  });

  it("with 404 not_found for another organization's task, which stays as it is", async () => {
    const [caller, other] = [await newTaskCaller(), await newTaskCaller()];
    const theirs = await other.put();
    const before = await other.dump();
    await caller.refuses(
      () => caller.updateTask({ params: { id: theirs }, body: { title: 'Mine' } }),
      404,
      'not_found',
    );
    expect(await other.dump()).toEqual(before);
  });

  it('with 401 unauthorized without a token', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put();
    await caller.refuses(
      () => caller.updateTask({ params: { id }, body: { title: 'New' }, token: undefined }),
      401,
      'unauthorized',
    );
  });

  it('with 403 insufficient_scope by a token that may only read tasks', async () => {
    const caller = await newTaskCaller(['tasks:read', 'agents:write']);
    await caller.refuses(
      () => caller.updateTask({ params: { id: absent }, body: { title: 'New' } }),
      403,
      'insufficient_scope',
    );
  });
});

describe('a patch of dependsOn', () => {
  it('adds, removes and reorders dependencies', async () => {
    const caller = await newTaskCaller();
    const [one, two, three] = [await caller.put(), await caller.put(), await caller.put()];
    const id = await caller.put({ dependsOn: [one, two] });
    expect(dataOf(await caller.updateTask({ params: { id }, body: { dependsOn: [three, one] } }))).toMatchObject({
      dependsOn: [three, one],
    });
    const reordered = await caller.updateTask({ params: { id }, body: { dependsOn: [one, three] } });
    expect(dataOf(reordered)).toMatchObject({ dependsOn: [one, three] });
    expect(reordered.headers.ETag).toBe('"3"');
    const read = dataOf<TaskDetail>(await caller.getTask({ params: { id } }));
    expect(read.dependsOn.map((task) => task.id)).toEqual([one, three]);
    expect((await caller.deleteTask({ params: { id: two } })).status).toBe(200);
  });

  it('leaves version and updatedAt of the other tasks alone', async () => {
    const caller = await newTaskCaller();
    const [one, id] = [await caller.put(), await caller.put()];
    wait();
    await caller.updateTask({ params: { id }, body: { dependsOn: [one] } });
    const read = await caller.getTask({ params: { id: one } });
    expect(read.headers.ETag).toBe('"1"');
    expect(dataOf(read).updatedAt).toBe(dataOf(read).createdAt);
  });

  it('takes 25 added at once, with a change of everything else', async () => {
    const caller = await newTaskCaller();
    const dependsOn = await Promise.all(Array.from({ length: 25 }, () => caller.put()));
    const id = await caller.put({ assignedAgent: 'prompt-improver', projectId: 'proj_1' });
    const patch = { status: 'done', priority: 'low', assignedAgent: 'qa-reviewer', projectId: 'proj_2', dependsOn };
    expect((await caller.updateTask({ params: { id }, body: patch })).status).toBe(200);
  });

  it('takes 25 in the place of 25 others', async () => {
    const caller = await newTaskCaller();
    const tasks = await Promise.all(Array.from({ length: 50 }, () => caller.put()));
    const id = await caller.put({ dependsOn: tasks.slice(0, 25), assignedAgent: 'qa-reviewer', projectId: 'proj_1' });
    const patch = { status: 'done', assignedAgent: 'prompt-improver', projectId: 'proj_2', dependsOn: tasks.slice(25) };
    expect((await caller.updateTask({ params: { id }, body: patch })).status).toBe(200);
  });

  it('is refused with 409 dependency_cycle for the task itself', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put();
    const error = await caller.refuses(
      () => caller.updateTask({ params: { id }, body: { dependsOn: [id] } }),
      409,
      'dependency_cycle',
    );
    expect(error.details).toMatchObject([{ path: 'dependsOn.0', code: 'cycle' }]);
  });

  it('is refused with 409 dependency_cycle for a ring of two, whose path is named', async () => {
    const caller = await newTaskCaller();
    const a = await caller.put();
    const b = await caller.put({ dependsOn: [a] });
    const error = await caller.refuses(
      () => caller.updateTask({ params: { id: a }, body: { dependsOn: [b] } }),
      409,
      'dependency_cycle',
    );
    expect(error.details).toMatchObject([{ path: 'dependsOn.0', code: 'cycle' }]);
    expect(error.details?.[0]?.message).toContain(`${a} → ${b} → ${a}`);
  });

  it('is refused with 409 dependency_cycle for a ring of three, at the dependency that closes it', async () => {
    const caller = await newTaskCaller();
    const [a, other] = [await caller.put(), await caller.put()];
    const b = await caller.put({ dependsOn: [a] });
    const c = await caller.put({ dependsOn: [b] });
    const error = await caller.refuses(
      () => caller.updateTask({ params: { id: a }, body: { dependsOn: [other, c] } }),
      409,
      'dependency_cycle',
    );
    expect(error.details).toMatchObject([{ path: 'dependsOn.1', code: 'cycle' }]);
    expect(error.details?.[0]?.message).toContain(`${a} → ${c} → ${b} → ${a}`);
  });

  it('is refused with 422 unknown_reference for each id that does not exist, before a ring is looked for', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put();
    const dependsOn = [absent, id, 'tk_01K00000000000000000000001'];
    const error = await caller.refuses(
      () => caller.updateTask({ params: { id }, body: { dependsOn } }),
      422,
      'unknown_reference',
    );
    expect(error.details?.map(({ path }) => path)).toEqual(['dependsOn.0', 'dependsOn.2']);
  });

  it("is refused with 422 unknown_reference for another organization's task", async () => {
    const [caller, other] = [await newTaskCaller(), await newTaskCaller()];
    const [id, theirs] = [await caller.put(), await other.put()];
    const before = await other.dump();
    await caller.refuses(
      () => caller.updateTask({ params: { id }, body: { dependsOn: [theirs] } }),
      422,
      'unknown_reference',
    );
    expect(await other.dump()).toEqual(before);
  });

  it('is refused with 409 limit_reached by a task that has 500 dependents', async () => {
    const caller = await newTaskCaller();
    const [id, full] = [await caller.put(), await caller.put()];
    const dependents = new Set(Array.from({ length: 500 }, (_, at) => `tk_01K${String(at).padStart(23, '0')}`));
    await service.table.client.send(
      new UpdateCommand({
        TableName: service.tableName,
        Key: keys.task(caller.organization, full.slice(3)),
        UpdateExpression: 'SET dependents = :dependents',
        ExpressionAttributeValues: { ':dependents': dependents },
      }),
    );
    const error = await caller.refuses(
      () => caller.updateTask({ params: { id }, body: { dependsOn: [full] } }),
      409,
      'limit_reached',
    );
    expect(error.details).toMatchObject([{ path: 'dependsOn.0', code: 'limit' }]);
  });
});
