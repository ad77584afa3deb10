import { beforeEach, describe, expect, it } from 'vitest';
import { dataOf } from '../kanban-tasks/board.ts';
import { type Crew, listed, newExecution, openCrews, startedOf } from './crew.ts';
import { atOnce } from './registry.ts';

const { newCrew } = await openCrews();
let crew: Crew;
beforeEach(async () => {
  crew = await newCrew();
});

const headers = { 'Idempotency-Key': 'key' };
const execute = (fields: Record<string, unknown> = {}, name = 'writer') =>
  crew.execute({ ...newExecution, ...fields }, { headers, name });

describe('a start under an Idempotency-Key', () => {
  it('is answered again with the same execution, starts nothing and moves no task', async () => {
    const taskId = await crew.board.put();
    const first = await execute({ taskId });
    expect(first.headers).not.toHaveProperty('Idempotency-Replayed');
    const before = await crew.dump();
    const again = await execute({ taskId });
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(Object.keys(startedOf(again))).toEqual(['executionId', 'agentName', 'status', 'startedAt']);
    expect(again.headers['Idempotency-Replayed']).toBe('true');
    expect(await crew.dump()).toEqual(before);
  });

  it('sent by ten callers at once starts one execution and gets ten equal answers', async () => {
    const taskId = await crew.board.put();
    const answers = await atOnce(10, () => execute({ taskId }));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(answers.filter((answer) => answer.headers['Idempotency-Replayed'] === 'true')).toHaveLength(9);
    const [first] = answers.map((answer) => startedOf(answer).executionId);
    expect(listed(await crew.list())).toEqual([[first], 1]);
    expect((await crew.board.get(taskId)).headers.ETag).toBe('"2"');
  });

  it('sent at once with two inputs is carried out for one and refused for the other', async () => {
    const answers = await Promise.all([execute(), execute({ input: 'Write a sonnet.' })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
    expect(listed(await crew.list())[1]).toBe(1);
  });

  it('is answered as at first though the execution has ended since', async () => {
    const first = await execute();
    await crew.carryOut(startedOf(first).executionId);
    expect((await crew.execution(startedOf(first).executionId)).status).toBe('completed');
    expect((await execute()).body).toEqual(first.body);
  });

  it('is answered again though the agent is gone, or takes no work any more', async () => {
    const first = await execute();
    await crew.registry.update('writer', { status: 'inactive' });
    expect((await execute()).body).toEqual(first.body);
    await crew.registry.delete('writer');
    const again = await execute();
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(listed(await crew.list())).toEqual([[], 0]);
  });

  it.each([
    ['input', { input: 'Write a sonnet.' }],
    ['context', { context: {} }],
    ['task', { taskId: 'tk_01K00000000000000000000000' }],
  ])('is refused with 422 idempotency_key_reused for another %s', async (_, fields) => {
    await execute();
    await crew.refuses(() => execute(fields), 422, 'idempotency_key_reused');
  });

  it.each([
    ['{"a":1,"__proto__":{"b":1}}', '{"a":1,"__proto__":{"b":2}}'],
    ['{"a":[1,2]}', '{"a":[2,1]}'],
    ['{"a":1}', '{"a":"1"}'],
  ])('knows a context of %s from one of %s', async (one, other) => {
    const send = (context: string) => crew.execute(`{"input":"x","context":${context}}`, { headers });
    expect((await send(one)).status).toBe(200);
    await crew.refuses(() => send(other), 422, 'idempotency_key_reused');
    expect((await send(one)).headers['Idempotency-Replayed']).toBe('true');
  });

  it('is refused with 422 idempotency_key_reused for another agent, even one that there is not', async () => {
    await execute();
    for (const name of ['qa-reviewer', 'nobody'])
      await crew.refuses(() => execute({}, name), 422, 'idempotency_key_reused');
  });

  it('leaves the same key free in another organization', async () => {
    const first = startedOf(await execute());
    const other = await newCrew();
    const second = await other.execute(newExecution, { headers });
    expect(second.headers).not.toHaveProperty('Idempotency-Replayed');
    expect(startedOf(second).executionId).not.toBe(first.executionId);
  });

  it('keeps neither the key nor what was asked in its record', async () => {
    await crew.execute({ input: 'private-input' }, { headers: { 'Idempotency-Key': 'private-key' } });
    const records = Object.values(await crew.dump()).filter((item) => 'fingerprint' in (item as object));
    expect(records).toHaveLength(1);
    expect(JSON.stringify(records)).not.toContain('private');
  });
});

describe('a refused start leaves its Idempotency-Key free', () => {
  it('with 404, until there is such an agent', async () => {
    await crew.refuses(() => execute({}, 'later'), 404, 'not_found');
    await crew.registry.put({ name: 'later' });
    expect((await execute({}, 'later')).headers).not.toHaveProperty('Idempotency-Replayed');
  });

  it('with 422, for another task', async () => {
    await crew.refuses(() => execute({ taskId: 'tk_01K00000000000000000000000' }), 422, 'unknown_reference');
    expect((await execute({ taskId: await crew.board.put() })).status).toBe(200);
  });

  it('with 409, until the agent is active', async () => {
    await crew.registry.update('writer', { status: 'draft' });
    await crew.refuses(() => execute(), 409, 'agent_not_active');
    await crew.registry.update('writer', { status: 'active' });
    expect((await execute()).status).toBe(200);
  });

  it('with 409, until the task waits for no other', async () => {
    const blocker = await crew.board.put();
    const taskId = await crew.board.put({ dependsOn: [blocker] });
    await crew.refuses(() => execute({ taskId }), 409, 'task_blocked');
    expect(dataOf(await crew.board.update(blocker, { status: 'done' })).status).toBe('done');
    expect((await execute({ taskId })).status).toBe(200);
  });
});

it.each(['', 'a b', 'schlüssel', 'x'.repeat(256)])('the Idempotency-Key %j is refused with 400', async (key) => {
  const send = () => crew.execute(newExecution, { headers: { 'Idempotency-Key': key } });
  const { details } = await crew.refuses(send, 400, 'validation_failed');
  expect(details).toMatchObject([{ path: 'Idempotency-Key', code: 'invalid_value' }]);
});
