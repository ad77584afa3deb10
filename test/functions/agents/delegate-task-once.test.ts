import { beforeEach, describe, expect, it } from 'vitest';
import { type Crew, listed, newDelegation, openCrews } from './crew.ts';
import { atOnce } from './registry.ts';

const { newCrew } = await openCrews(3);
let crew: Crew;
beforeEach(async () => {
  crew = await newCrew();
  await crew.registry.put({ name: 'reader' });
});

const headers = { 'Idempotency-Key': 'key' };
const delegate = (fields: object = {}, name = 'writer') =>
  crew.delegate({ ...newDelegation, ...fields }, { headers, name });

describe('a delegation under an Idempotency-Key', () => {
  it('sent by ten callers at once starts one execution, beyond the cap though they are, and gets ten equal answers', async () => {
    const taskId = await crew.board.put();
    const answers = await atOnce(10, () => delegate({ taskId }));
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
    expect(answers.filter((answer) => answer.headers['Idempotency-Replayed'] === 'true')).toHaveLength(9);
    expect(listed(await crew.list())[1]).toBe(1);
    expect((await crew.board.getTask({ params: { id: taskId } })).headers.ETag).toBe('"2"');
  });

  it('sent by ten callers at once for the last place gets one answer', async () => {
    await Promise.all([crew.start(), crew.start()]);
    const answers = await atOnce(10, () => delegate());
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
  });

  it('is answered as accepted though its execution has ended since, or either agent is gone', async () => {
    const first = await delegate();
    const [[id = '']] = listed(await crew.listOf('reader'));
    await crew.carryOut(id);
    expect((await delegate()).body).toEqual(first.body);
    for (const name of ['reader', 'writer']) await crew.registry.delete(name);
    expect((await delegate()).body).toEqual(first.body);
  });

  it('is answered again where it could not be made again', async () => {
    const taskId = await crew.board.put();
    const first = await delegate({ taskId });
    await crew.handOn('reader', 'qa-reviewer', { taskId });
    await crew.handOn('qa-reviewer', 'prompt-improver', { taskId });
    await crew.refuses(() => crew.delegate({ ...newDelegation, taskId }), 429, 'rate_limited');
    expect((await delegate({ taskId })).body).toEqual(first.body);
  });

  it.each([
    ['toAgent', { toAgent: 'qa-reviewer' }],
    ['instruction', { instruction: 'Read it in silence.' }],
    ['context', { context: {} }],
    ['task', { taskId: 'tk_01K00000000000000000000000' }],
  ])('is rejected with 422 idempotency_key_reused for another %s', async (_, fields) => {
    await delegate();
    await crew.refuses(() => delegate(fields), 422, 'idempotency_key_reused');
  });

  it('is rejected with 422 idempotency_key_reused from another agent, even one that there is not', async () => {
    await delegate();
    for (const name of ['qa-reviewer', 'absent-agent'])
      await crew.refuses(() => delegate({}, name), 422, 'idempotency_key_reused');
  });
});

describe('a rejected delegation leaves its Idempotency-Key free', () => {
  it('with 422, until there is such an agent', async () => {
    await crew.refuses(() => delegate({ toAgent: 'later' }), 422, 'unknown_reference');
    await crew.registry.put({ name: 'later' });
    expect((await delegate({ toAgent: 'later' })).headers).not.toHaveProperty('Idempotency-Replayed');
  });

  it('with 409, until the chain has ended', async () => {
    const taskId = await crew.board.put();
    const { id } = await crew.handOn('reader', 'writer', { taskId });
    await crew.refuses(() => delegate({ taskId }), 409, 'delegation_cycle');
    await crew.carryOut(id);
    expect((await delegate({ taskId })).status).toBe(200);
  });

  it('with 429, until there is room', async () => {
    const [id] = await Promise.all([crew.start(), crew.start(), crew.start()]);
    await crew.refuses(() => delegate(), 429, 'rate_limited');
    await crew.carryOut(id);
    expect((await delegate()).status).toBe(200);
  });
});
