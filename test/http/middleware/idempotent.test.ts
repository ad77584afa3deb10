import { describe, expect, it } from 'vitest';
import { createTask } from '../../../lib/contract/tasks.ts';
import { serve } from '../../../lib/http/serve.ts';
import * as tasks from '../../../lib/tasks/tasks.ts';
import { dataOf, errorOf } from '../../api.ts';
import { call, clockAt, newCaller, openService, type Sent } from '../../service.ts';
import { dumpOf } from '../../table-dump.ts';

const start = Date.parse('2026-03-01T12:00:00.000Z');
const day = 24 * 60 * 60 * 1000;
const clock = clockAt(start);
const { app, table } = await openService(clock);
const absent = 'tk_01K00000000000000000000000';

const create = serve(
  createTask,
  ({ body, caller, recordResponse }, context) => tasks.createTask(context, caller.organization, body, recordResponse),
  () => app,
);

/** Creates an organization with a caller that sends creates with an Idempotency-Key. */
async function newSender() {
  const { organization, token } = await newCaller(app);
  const sent = (key: string | undefined, body: unknown): Sent => ({
    method: 'POST',
    path: createTask.path,
    body,
    token,
    ...(key !== undefined && { headers: { 'Idempotency-Key': key } }),
  });
  return {
    organization,
    send: (key: string | undefined, body: unknown) => call(create, sent(key, body)),
    total: async () => (await tasks.listTasks(app, organization, {}, { limit: 1, offset: 0 })).total,
    dump: () => dumpOf(table, organization),
  };
}

describe('a create with an Idempotency-Key', () => {
  it('is carried out once, and a duplicate gets the same response, marked as replayed', async () => {
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

  it('is a duplicate if its fields are in another order', async () => {
    const { send, total } = await newSender();
    await send('key', '{"title":"t","priority":"low"}');
    const second = await send('key', '{ "priority": "low", "title": "t" }');
    expect(second.headers['Idempotency-Replayed']).toBe('true');
    expect(await total()).toBe(1);
  });

  it('is a new request with another key', async () => {
    const { send, total } = await newSender();
    await send('one', { title: 't' });
    await send('One', { title: 't' });
    expect(await total()).toBe(2);
  });

  it('is carried out for one of two bodies that are sent concurrently, and the other gets 422', async () => {
    const { send, total } = await newSender();
    const answers = await Promise.all([send('key', { title: 't' }), send('key', { title: 'u' })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422]);
    expect(await total()).toBe(1);
  });

  it('can have another body after 24 hours', async () => {
    const { send } = await newSender();
    await send('key', { title: 't' });
    clock.now = start + day;
    expect((await send('key', { title: 'u' })).status).toBe(201);
    clock.now = start;
  });

  it.each([
    [400, { title: '' }],
    [422, { title: 't', dependsOn: [absent] }],
  ])('does not use up the key if it fails with %i', async (status, body) => {
    const { send } = await newSender();
    expect((await send('key', body)).status).toBe(status);
    const answer = await send('key', { title: 't' });
    expect(answer.status).toBe(201);
    expect(answer.headers).not.toHaveProperty('Idempotency-Replayed');
  });

  it('stores neither the key nor the text of the request in its record', async () => {
    const { send, dump } = await newSender();
    await send('private-key', { title: 't', description: 'private-text' });
    const items = Object.entries(await dump()).filter(([, item]) => !JSON.stringify(item).includes('"kind":"task"'));
    expect(JSON.stringify(items)).not.toContain('private');
  });
});

describe('an Idempotency-Key', () => {
  it.each(['a', '!', '~', 'x'.repeat(255), '"quoted"', '__proto__', 'a,b', 'O#org#T'])(
    '%j is accepted',
    async (key) => {
      const { send } = await newSender();
      expect((await send(key, { title: 't' })).status).toBe(201);
      expect((await send(key, { title: 't' })).headers['Idempotency-Replayed']).toBe('true');
    },
  );

  it.each([
    ['is empty', ''],
    ['is a space', ' '],
    ['contains a space', 'a b'],
    ['is sent twice, which API Gateway may join with a space', 'a, b'],
    ['contains a tab', 'a\tb'],
    ['has a line break at its end', 'a\n'],
    ['contains a zero byte', 'a\u0000'],
    ['is not ASCII', 'schlüssel'],
    ['is an emoji', '🔑'],
    ['has 256 characters', 'x'.repeat(256)],
  ])('that %s leads to 400 validation_failed, and nothing is written', async (_, key) => {
    const { send, dump } = await newSender();
    const before = await dump();
    const answer = await send(key, { title: 't' });
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'validation_failed']);
    expect(errorOf(answer).details).toMatchObject([{ path: 'Idempotency-Key', code: 'invalid_value' }]);
    expect(await dump()).toEqual(before);
  });
});
