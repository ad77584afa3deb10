import { describe, expect, it } from 'vitest';
import { createTask } from '../../../lib/contract/tasks/tasks.ts';
import { serve } from '../../../lib/http/serve.ts';
import * as tasks from '../../../lib/tasks/tasks.ts';
import { dataOf } from '../../api.ts';
import { createCaller } from '../../caller.ts';
import { call, newCaller, openService } from '../../service.ts';

const service = await openService();
const { app } = service;
const absent = 'tk_01K00000000000000000000000';

const create = serve(
  createTask,
  ({ body, caller, recordResponse }, context) => tasks.createTask(context, caller.organization, body, recordResponse),
  () => app,
);

/** Creates an organization with a caller that sends creates with an Idempotency-Key. */
async function newSender() {
  const { organization, token } = await newCaller(app);
  return {
    refuses: createCaller(service, organization, token).refuses,
    send: (key: string, body: unknown) =>
      call(create, { method: 'POST', path: createTask.path, body, token, headers: { 'Idempotency-Key': key } }),
    total: async () => (await tasks.listTasks(app, organization, {}, { limit: 1, offset: 0 })).total,
  };
}

// test/table/idempotency.test.ts has the rules of records: which requests have the same one, how long, and its content.
describe('a create with an Idempotency-Key', () => {
  it('is carried out once, and a duplicate gets the same response, marked as replayed', async () => {
    const { send, total } = await newSender();
    const first = await send('key', { title: 't' });
    const second = await send('key', { title: 't' });
    expect([second.status, second.body]).toEqual([201, first.body]);
    expect(Object.keys(dataOf(second))).toEqual(['id', 'title', 'status', 'priority', 'createdAt']);
    expect(second.headers['Idempotency-Replayed']).toBe('true');
    expect(second.headers['X-Request-Id']).not.toBe(first.headers['X-Request-Id']);
    expect(await total()).toBe(1);
  });

  it('is a duplicate if its fields are in another order', async () => {
    const { send, total } = await newSender();
    await send('key', '{"title":"t","priority":"low"}');
    const second = await send('key', '{ "priority": "low", "title": "t" }');
    expect([second.headers['Idempotency-Replayed'], await total()]).toEqual(['true', 1]);
  });

  it('is carried out for one of two bodies that are sent concurrently, and the other gets 422', async () => {
    const { send, total } = await newSender();
    const answers = await Promise.all([send('key', { title: 't' }), send('key', { title: 'u' })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422]);
    expect(await total()).toBe(1);
  });

  it.each([
    [400, { title: '' }],
    [422, { title: 't', dependsOn: [absent] }],
  ])('does not use up the key if it fails with %i', async (status, body) => {
    const { send } = await newSender();
    expect((await send('key', body)).status).toBe(status);
    const answer = await send('key', { title: 't' });
    expect([answer.status, answer.headers['Idempotency-Replayed']]).toEqual([201, undefined]);
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
    // API Gateway may join two headers with a comma and a space.
    ...['', ' ', 'a b', 'a, b', 'a\tb', 'a\n', 'a\u0000', 'schlüssel', '🔑', 'x'.repeat(256)],
  ])('%j leads to 400 validation_failed, and nothing is written', async (key) => {
    const { send, refuses } = await newSender();
    const { details } = await refuses(() => send(key, { title: 't' }), 400, 'validation_failed');
    expect(details).toMatchObject([{ path: 'Idempotency-Key', code: 'invalid_value' }]);
  });
});
