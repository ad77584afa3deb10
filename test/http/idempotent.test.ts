import { describe, expect, it } from 'vitest';
import { endpoint } from '../../lib/contract/endpoint.ts';
import { createTask, NewTask, TaskCreated } from '../../lib/contract/tasks.ts';
import { serve } from '../../lib/http/serve.ts';
import { dataOf, errorOf } from '../functions/kanban-tasks/board.ts';
import { call, clockAt, newCaller, openService, type Sent } from '../service.ts';
import { dumpOf } from '../table-dump.ts';

const start = Date.parse('2026-03-01T12:00:00.000Z');
const day = 24 * 60 * 60 * 1000;
const clock = clockAt(start);
const { app, table } = await openService(clock);
const absent = 'tk_01K00000000000000000000000';

const create = serve(
  createTask,
  ({ body, caller, once }, { tasks }) => tasks.create(caller.organization, body, once),
  () => app,
);

/** Another operation of the same shape. */
const propose = serve(
  endpoint({
    method: 'POST',
    path: '/api/proposals',
    scope: 'tasks:write',
    summary: 'Propose a task',
    body: NewTask,
    status: 201,
    data: TaskCreated,
  }),
  ({ body, caller, once }, { tasks }) => tasks.create(caller.organization, body, once),
  () => app,
);

/** A caller with an organization of its own, who sends creates under a key. */
async function newSender() {
  const { organization, token } = await newCaller(app);
  const sent = (path: string, key: string | undefined, body: unknown): Sent => ({
    method: 'POST',
    path,
    body,
    token,
    ...(key !== undefined && { headers: { 'Idempotency-Key': key } }),
  });
  return {
    organization,
    send: (key: string | undefined, body: unknown) => call(create, sent('/api/kanban-tasks', key, body)),
    propose: (key: string, body: unknown) => call(propose, sent('/api/proposals', key, body)),
    total: async () => (await app.tasks.list(organization, {}, { limit: 1, offset: 0 })).total,
    dump: () => dumpOf(table, organization),
  };
}

describe('a create under an Idempotency-Key', () => {
  it('answers the first time as any create does', async () => {
    const { send } = await newSender();
    const answer = await send('key', { title: 't' });
    expect(answer.status).toBe(201);
    expect(answer.headers).not.toHaveProperty('Idempotency-Replayed');
  });

  it('is answered again with the same answer, marked as replayed, and carried out once', async () => {
    const { send, total } = await newSender();
    const first = await send('key', { title: 't' });
    const second = await send('key', { title: 't' });
    expect(second.status).toBe(201);
    expect(second.body).toEqual(first.body);
    expect(Object.keys(dataOf(second))).toEqual(['id', 'title', 'status', 'priority', 'createdAt']);
    expect(second.headers['Idempotency-Replayed']).toBe('true');
    expect(second.headers['X-Request-Id']).not.toBe(first.headers['X-Request-Id']);
    expect(await total()).toBe(1);
  });

  it('writes nothing when it is replayed', async () => {
    const { send, dump } = await newSender();
    await send('key', { title: 't' });
    const before = await dump();
    await send('key', { title: 't' });
    expect(await dump()).toEqual(before);
  });

  it('is the same request with its fields in another order', async () => {
    const { send, total } = await newSender();
    await send('key', '{"title":"t","priority":"low"}');
    const second = await send('key', '{ "priority": "low", "title": "t" }');
    expect(second.headers['Idempotency-Replayed']).toBe('true');
    expect(await total()).toBe(1);
  });

  it('answers what it answered, though the state is another by now', async () => {
    const { organization, send } = await newSender();
    const { id } = dataOf(await send(undefined, { title: 'first' }));
    const first = await send('key', { title: 't', dependsOn: [id] });
    for (const gone of [dataOf(first).id, id]) await app.tasks.delete(organization, gone, () => {});
    const second = await send('key', { title: 't', dependsOn: [id] });
    expect(second.status).toBe(201);
    expect(second.body).toEqual(first.body);
  });

  it('is refused with 422 idempotency_key_reused for another body, and written nowhere', async () => {
    const { send, dump } = await newSender();
    await send('key', { title: 't' });
    const before = await dump();
    const answer = await send('key', { title: 'u' });
    expect([answer.status, errorOf(answer).code]).toEqual([422, 'idempotency_key_reused']);
    expect(answer.headers).not.toHaveProperty('Idempotency-Replayed');
    expect(await dump()).toEqual(before);
  });

  it('is another request under another key', async () => {
    const { send, total } = await newSender();
    await send('one', { title: 't' });
    await send('One', { title: 't' });
    expect(await total()).toBe(2);
  });

  it('is carried out each time without a key', async () => {
    const { send, total } = await newSender();
    await send(undefined, { title: 't' });
    await send(undefined, { title: 't' });
    expect(await total()).toBe(2);
  });

  it('leaves the same key of another operation free', async () => {
    const sender = await newSender();
    await sender.send('key', { title: 't' });
    const answer = await sender.propose('key', { title: 'other' });
    expect(answer.status).toBe(201);
    expect(answer.headers).not.toHaveProperty('Idempotency-Replayed');
    expect(await sender.total()).toBe(2);
  });

  it('leaves the same key of another organization free', async () => {
    const [one, other] = [await newSender(), await newSender()];
    const [first, second] = [await one.send('key', { title: 't' }), await other.send('key', { title: 't' })];
    expect(second.headers).not.toHaveProperty('Idempotency-Replayed');
    expect(dataOf(second).id).not.toBe(dataOf(first).id);
  });

  it('sent ten times at once makes one task and gets ten equal answers', async () => {
    const { send, total } = await newSender();
    const answers = await Promise.all(Array.from({ length: 10 }, () => send('key', { title: 't' })));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(answers.filter(({ headers }) => headers['Idempotency-Replayed'] === 'true')).toHaveLength(9);
    expect(await total()).toBe(1);
  });

  it('sent at once with two bodies is carried out for one and refused for the other', async () => {
    const { send, total } = await newSender();
    const answers = await Promise.all([send('key', { title: 't' }), send('key', { title: 'u' })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422]);
    expect(await total()).toBe(1);
  });

  it('is replayed for 24 hours and carried out again after them', async () => {
    const { send, total } = await newSender();
    const first = await send('key', { title: 't' });
    clock.now = start + day - 1_000;
    expect((await send('key', { title: 't' })).body).toEqual(first.body);
    clock.now = start + day;
    const third = await send('key', { title: 't' });
    expect(third.status).toBe(201);
    expect(third.headers).not.toHaveProperty('Idempotency-Replayed');
    expect(dataOf(third).id).not.toBe(dataOf(first).id);
    expect((await send('key', { title: 't' })).body).toEqual(third.body);
    expect(await total()).toBe(2);
    clock.now = start;
  });

  it('may have another body after 24 hours', async () => {
    const { send } = await newSender();
    await send('key', { title: 't' });
    clock.now = start + day;
    expect((await send('key', { title: 'u' })).status).toBe(201);
    clock.now = start;
  });

  it.each([
    [400, { title: '' }],
    [422, { title: 't', dependsOn: [absent] }],
  ])('leaves the key free where it is refused with %i', async (status, body) => {
    const { send } = await newSender();
    expect((await send('key', body)).status).toBe(status);
    const answer = await send('key', { title: 't' });
    expect(answer.status).toBe(201);
    expect(answer.headers).not.toHaveProperty('Idempotency-Replayed');
  });

  it('keeps neither the key nor the text of the request in its record', async () => {
    const { send, dump } = await newSender();
    await send('private-key', { title: 't', description: 'private-text' });
    const items = Object.entries(await dump()).filter(([, item]) => !JSON.stringify(item).includes('"kind":"task"'));
    expect(JSON.stringify(items)).not.toContain('private');
  });
});

describe('an Idempotency-Key', () => {
  it.each(['a', '!', '~', 'x'.repeat(255), '"quoted"', '__proto__', 'a,b', 'O#org#T'])('%j is taken', async (key) => {
    const { send } = await newSender();
    expect((await send(key, { title: 't' })).status).toBe(201);
    expect((await send(key, { title: 't' })).headers['Idempotency-Replayed']).toBe('true');
  });

  it.each([
    ['is empty', ''],
    ['is a space', ' '],
    ['has a space in it', 'a b'],
    ['is given twice, which API Gateway may join with a space', 'a, b'],
    ['has a tab in it', 'a\tb'],
    ['has a line break at its end', 'a\n'],
    ['has a zero byte in it', 'a\u0000'],
    ['is not ASCII', 'schlüssel'],
    ['is an emoji', '🔑'],
    ['has 256 characters', 'x'.repeat(256)],
  ])('that %s is refused with 400 validation_failed, and nothing is written', async (_, key) => {
    const { send, dump } = await newSender();
    const before = await dump();
    const answer = await send(key, { title: 't' });
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'validation_failed']);
    expect(errorOf(answer).details).toMatchObject([{ path: 'Idempotency-Key', code: 'invalid_value' }]);
    expect(await dump()).toEqual(before);
  });
});
