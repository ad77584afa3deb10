import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { keys } from '../../../lib/table/keys.ts';
import { dataOf, errorOf } from '../../api.ts';
import { createTaskCallers } from './task-caller.ts';

const { newTaskCaller, service } = await createTaskCallers();
const absent = 'tk_01K00000000000000000000000';
const absentToo = 'tk_01K00000000000000000000001';

describe('a create', () => {
  it('answers 201 with the five specified fields and no others', async () => {
    const caller = await newTaskCaller();
    const answer = await caller.createTask({
      body: {
        title: 'Write the docs',
        description: 'All pages',
        status: 'assigned',
        priority: 'high',
        assignedAgent: 'qa-reviewer',
        projectId: 'proj_docs',
        dependsOn: [await caller.put()],
      },
    });
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.body)).toEqual(['success', 'data']);
    expect(Object.keys(dataOf(answer))).toEqual(['id', 'title', 'status', 'priority', 'createdAt']);
    expect(dataOf(answer)).toMatchObject({ title: 'Write the docs', status: 'assigned', priority: 'high' });
    expect(dataOf(answer).id).toMatch(/^tk_[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    expect(dataOf(answer).createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('has a JSON answer without an ETag', async () => {
    const caller = await newTaskCaller();
    const { headers } = await caller.createTask({ body: { title: 'A task' } });
    expect(headers['Content-Type']).toBe('application/json');
    expect(headers).not.toHaveProperty('ETag');
  });

  it('defaults to the backlog and to medium priority', async () => {
    const caller = await newTaskCaller();
    const answer = await caller.createTask({ body: { title: 'A task' } });
    expect(dataOf(answer)).toMatchObject({ status: 'backlog', priority: 'medium' });
  });

  it('stores every field as it was sent', async () => {
    const caller = await newTaskCaller();
    const first = await caller.put();
    const sent = {
      title: ' Two  spaces, \u0000 and 👩‍🚀 ',
      description: '',
      status: 'qa_review',
      priority: 'critical',
      assignedAgent: 'qa-reviewer',
      projectId: 'proj___proto__',
      dependsOn: [first],
    };
    await caller.put(sent);
    const [newest] = dataOf<unknown[]>(await caller.listTasks());
    expect(newest).toMatchObject(sent);
  });

  it('takes an agent by any name that an agent has, and refuses one that only objects have', async () => {
    const caller = await newTaskCaller();
    const error = await caller.refuses(
      () => caller.createTask({ body: { title: 'A task', assignedAgent: 'constructor' } }),
      422,
      'unknown_reference',
    );
    expect(error.details).toMatchObject([{ path: 'assignedAgent', code: 'not_found' }]);
  });

  it('takes the title at its longest, counted in code points', async () => {
    const caller = await newTaskCaller();
    expect((await caller.createTask({ body: { title: '😀'.repeat(500) } })).status).toBe(201);
    await caller.refuses(() => caller.createTask({ body: { title: '😀'.repeat(501) } }), 400, 'validation_failed');
  });

  it('takes the description at its longest, counted in code points', async () => {
    const caller = await newTaskCaller();
    expect((await caller.createTask({ body: { title: 'A task', description: '😀'.repeat(10_000) } })).status).toBe(201);
    const tooLong = { title: 'A task', description: 'x'.repeat(10_001) };
    await caller.refuses(() => caller.createTask({ body: tooLong }), 400, 'validation_failed');
  });
});

describe('a create is refused with 400 validation_failed and written nowhere', () => {
  it.each([
    ['no title', {}, [{ path: 'title', code: 'required' }]],
    ['a null title', { title: null }, [{ path: 'title', code: 'invalid_type' }]],
    ['an empty title', { title: '' }, [{ path: 'title', code: 'invalid_value' }]],
    ['a title of white space', { title: ' \t\n\u00a0\u3000' }, [{ path: 'title', code: 'invalid_value' }]],
    ['a title that is a number', { title: 1e3 }, [{ path: 'title', code: 'invalid_type' }]],
    ['a title of 501 characters', { title: 'x'.repeat(501) }, [{ path: 'title', code: 'invalid_value' }]],
    [
      'a description that is an object',
      { title: 't', description: {} },
      [{ path: 'description', code: 'invalid_type' }],
    ],
    ['a null description', { title: 't', description: null }, [{ path: 'description', code: 'invalid_type' }]],
    ['an unknown status', { title: 't', status: 'Done' }, [{ path: 'status', code: 'invalid_value' }]],
    ['a null status', { title: 't', status: null }, [{ path: 'status' }]],
    ['a status every object has', { title: 't', status: 'constructor' }, [{ path: 'status', code: 'invalid_value' }]],
    ['an unknown priority', { title: 't', priority: 'urgent' }, [{ path: 'priority', code: 'invalid_value' }]],
    ['a null agent', { title: 't', assignedAgent: null }, [{ path: 'assignedAgent' }]],
    ['an agent in capitals', { title: 't', assignedAgent: 'QA' }, [{ path: 'assignedAgent', code: 'invalid_value' }]],
    ['an agent with a #', { title: 't', assignedAgent: 'a#b' }, [{ path: 'assignedAgent', code: 'invalid_value' }]],
    ['an agent of 65 characters', { title: 't', assignedAgent: 'a'.repeat(65) }, [{ path: 'assignedAgent' }]],
    ['an agent and a line break', { title: 't', assignedAgent: 'qa-reviewer\n' }, [{ path: 'assignedAgent' }]],
    ['a null project', { title: 't', projectId: null }, [{ path: 'projectId' }]],
    ['a project without its prefix', { title: 't', projectId: 'docs' }, [{ path: 'projectId', code: 'invalid_value' }]],
    ['a project of 65 characters', { title: 't', projectId: `proj_${'a'.repeat(65)}` }, [{ path: 'projectId' }]],
    ['a null dependsOn', { title: 't', dependsOn: null }, [{ path: 'dependsOn', code: 'invalid_type' }]],
    ['a dependsOn that is one id', { title: 't', dependsOn: absent }, [{ path: 'dependsOn', code: 'invalid_type' }]],
    ['an id of another kind', { title: 't', dependsOn: [absent, 'ag_1'] }, [{ path: 'dependsOn.1' }]],
    ['an id that is a number', { title: 't', dependsOn: [7] }, [{ path: 'dependsOn.0', code: 'invalid_type' }]],
    ['an id that is null', { title: 't', dependsOn: [null] }, [{ path: 'dependsOn.0' }]],
    ['an id in lower case', { title: 't', dependsOn: [absent.toLowerCase()] }, [{ path: 'dependsOn.0' }]],
    ['an id twice', { title: 't', dependsOn: [absent, absent] }, [{ path: 'dependsOn', code: 'invalid_value' }]],
    ['a read-only id', { title: 't', id: absent }, [{ path: 'id', code: 'read_only' }]],
    ['a read-only createdAt', { title: 't', createdAt: '2026-01-01T00:00:00.000Z' }, [{ path: 'createdAt' }]],
    [
      'a read-only updatedAt',
      { title: 't', updatedAt: '2026-01-01T00:00:00.000Z' },
      [{ path: 'updatedAt', code: 'read_only' }],
    ],
    ['what only the single read has', { title: 't', blockedBy: [] }, [{ path: 'blockedBy', code: 'read_only' }]],
    ['an unknown field', { title: 't', colour: 'red' }, [{ path: 'colour', code: 'unknown_field' }]],
    ['a body that is an array', [{ title: 't' }], [{ path: '', code: 'invalid_type' }]],
    ['a body that is null', 'null', [{ path: '', code: 'invalid_type' }]],
    ['a body that is a text', '"title"', [{ path: '', code: 'invalid_type' }]],
    ['a body that is a number', '1e3', [{ path: '', code: 'invalid_type' }]],
  ])('for %s', async (_, body, details) => {
    const caller = await newTaskCaller();
    const error = await caller.refuses(() => caller.createTask({ body }), 400, 'validation_failed');
    expect(error.details).toMatchObject(details);
  });

  it('for 26 dependencies', async () => {
    const caller = await newTaskCaller();
    const dependsOn = Array.from(
      { length: 26 },
      (_, at) => `tk_01K000000000000000000000${String(at).padStart(2, '0')}`,
    );
    const error = await caller.refuses(
      () => caller.createTask({ body: { title: 't', dependsOn } }),
      400,
      'validation_failed',
    );
    expect(error.details).toMatchObject([{ path: 'dependsOn', code: 'invalid_value' }]);
  });

  it('for no body at all, which counts as an empty object', async () => {
    const caller = await newTaskCaller();
    const error = await caller.refuses(() => caller.createTask(), 400, 'validation_failed');
    expect(error.details).toMatchObject([{ path: 'title', code: 'required' }]);
  });

  it('for a query, which a create does not take', async () => {
    const caller = await newTaskCaller();
    const send = () => caller.createTask({ body: { title: 't' }, query: 'limit=5' });
    const error = await caller.refuses(send, 400, 'validation_failed');
    expect(error.details).toMatchObject([{ path: 'limit', code: 'unknown_field' }]);
  });
});

describe('a create is refused and written nowhere', () => {
  it('with 401 unauthorized without a token', async () => {
    const caller = await newTaskCaller();
    await caller.refuses(() => caller.createTask({ body: { title: 't' }, token: undefined }), 401, 'unauthorized');
  });

  it('with 403 insufficient_scope by a token that may only read tasks and write everything else', async () => {
    const caller = await newTaskCaller(['tasks:read', 'agents:write', 'webhooks:write']);
    await caller.refuses(() => caller.createTask({ body: { title: 't' } }), 403, 'insufficient_scope');
  });

  it('with 422 unknown_reference, whose details name each dependency that does not exist', async () => {
    const caller = await newTaskCaller();
    const known = await caller.put();
    const send = () => caller.createTask({ body: { title: 't', dependsOn: [absent, known, absentToo] } });
    const error = await caller.refuses(send, 422, 'unknown_reference');
    expect(error.details?.map(({ path, code }) => [path, code])).toEqual([
      ['dependsOn.0', 'not_found'],
      ['dependsOn.2', 'not_found'],
    ]);
    expect(error.details?.[0]?.message).toContain(absent);
  });

  it('with 422 unknown_reference for an agent and a dependency in one answer', async () => {
    const caller = await newTaskCaller();
    const send = () => caller.createTask({ body: { title: 't', assignedAgent: 'missing-agent', dependsOn: [absent] } });
    const error = await caller.refuses(send, 422, 'unknown_reference');
    expect(error.details?.map(({ path }) => path).sort()).toEqual(['assignedAgent', 'dependsOn.0']);
  });

  it("with 422 unknown_reference for another organization's task, which stays as it is", async () => {
    const [caller, other] = [await newTaskCaller(), await newTaskCaller()];
    const theirs = await other.put();
    const before = await other.dump();
    await caller.refuses(
      () => caller.createTask({ body: { title: 't', dependsOn: [theirs] } }),
      422,
      'unknown_reference',
    );
    expect(await other.dump()).toEqual(before);
  });

  it('with 409 limit_reached as the 501st dependent of a task, named by its place', async () => {
    const caller = await newTaskCaller();
    const [free, full] = [await caller.put(), await caller.put()];
    const dependents = new Set(Array.from({ length: 500 }, (_, at) => `tk_01K${String(at).padStart(23, '0')}`));
    await service.table.client.send(
      new UpdateCommand({
        TableName: service.tableName,
        Key: keys.task(caller.organization, full.slice(3)),
        UpdateExpression: 'SET dependents = :dependents',
        ExpressionAttributeValues: { ':dependents': dependents },
      }),
    );
    const send = () => caller.createTask({ body: { title: 't', dependsOn: [free, full] } });
    const error = await caller.refuses(send, 409, 'limit_reached');
    expect(error.details).toMatchObject([{ path: 'dependsOn.1', code: 'limit' }]);
  });
});

it('gives two creates of the same body two tasks', async () => {
  const caller = await newTaskCaller();
  const [one, other] = [
    await caller.createTask({ body: { title: 'Twice' } }),
    await caller.createTask({ body: { title: 'Twice' } }),
  ];
  expect(dataOf(one).id).not.toBe(dataOf(other).id);
  expect(errorOf(one)).toBeUndefined();
});

it('takes 25 dependencies with an agent, a project and an Idempotency-Key at once', async () => {
  const caller = await newTaskCaller();
  const dependsOn = await Promise.all(Array.from({ length: 25 }, () => caller.put()));
  const body = { title: 'A task', assignedAgent: 'qa-reviewer', projectId: 'proj_1', dependsOn };
  expect((await caller.createTask({ body, headers: { 'Idempotency-Key': 'all-at-once' } })).status).toBe(201);
});
