import { beforeEach, describe, expect, it } from 'vitest';
import { errorOf } from '../../api.ts';
import { type Crew, listed, newExecution, newestFirst, openCrews, startedOf } from './crew.ts';
import { atOnce } from './registry.ts';

const cap = 2;
const { newCrew } = await openCrews(cap);
let crew: Crew;
let running: string[];

/** An organization that runs as many executions as it may. */
beforeEach(async () => {
  crew = await newCrew();
  running = [await crew.start(), await crew.start({}, 'qa-reviewer')];
});

const headers = { 'Idempotency-Key': 'key' };
const refused = (send = () => crew.execute()) => crew.refuses(send, 429, 'rate_limited');

describe('a start at the cap', () => {
  it('is rejected with 429 rate_limited, says when to retry, and writes nothing', async () => {
    const { message } = await refused();
    expect(message).toContain('The limit of 2 concurrent executions is reached');
    const answer = await crew.execute();
    expect(answer.headers['Retry-After']).toMatch(/^[1-9]\d*$/);
    expect(answer.headers['X-Request-Id']).toBe(errorOf(answer).requestId);
  });

  it('says when to come again beside a task too, which stays as it was', async () => {
    const taskId = await crew.board.put();
    await refused(() => crew.execute({ ...newExecution, taskId }));
    const answer = await crew.execute({ ...newExecution, taskId }, { headers });
    expect([answer.status, answer.headers['Retry-After']]).toEqual([429, '10']);
    expect((await crew.board.getTask({ params: { id: taskId } })).headers.ETag).toBe('"1"');
  });

  it("leaves another organization's room alone", async () => {
    const other = await newCrew();
    expect((await other.execute()).status).toBe(200);
  });

  it('is accepted when one has ended, completed or failed', async () => {
    await crew.carryOut(running[0] as string);
    await crew.start();
    await refused();
    await crew.carryOut(running[1] as string, async () => ({ kind: 'failed', error: 'No.', tokens: 0 }));
    await crew.start();
    await refused();
  });

  it('under an Idempotency-Key keeps no record, and is taken when there is room', async () => {
    await refused(() => crew.execute(newExecution, { headers }));
    await crew.carryOut(running[0] as string);
    const answer = await crew.execute(newExecution, { headers });
    expect(answer.status).toBe(200);
    expect(answer.headers).not.toHaveProperty('Idempotency-Replayed');
  });

  it('is answered again where it was taken before', async () => {
    const other = await newCrew();
    const first = await other.execute(newExecution, { headers });
    await other.start();
    await other.refuses(() => other.execute(), 429, 'rate_limited');
    const again = await other.execute(newExecution, { headers });
    expect([again.status, again.body]).toEqual([200, first.body]);
  });

  it('that comes ten times at once for the last place takes it once', async () => {
    await crew.carryOut(running[0] as string);
    const answers = await atOnce(10, () => crew.execute());
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(429)]);
    const won = answers.filter(({ status }) => status === 200).map((answer) => startedOf(answer).executionId);
    expect(listed(await crew.list('status=running'))).toEqual([newestFirst(...won, running[1] as string), 2]);
  });

  it('that comes ten times at once under one Idempotency-Key for the last place gets one answer', async () => {
    await crew.carryOut(running[0] as string);
    const answers = await atOnce(10, () => crew.execute(newExecution, { headers }));
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
  });
});

describe('at the cap a start is rejected', () => {
  it('with 404 for an agent that there is not', async () => {
    await crew.refuses(() => crew.execute(newExecution, { name: 'absent-agent' }), 404, 'not_found');
  });

  it('with 400 for what cannot be', async () => {
    await crew.refuses(() => crew.execute({}), 400, 'validation_failed');
  });

  it('with 422 for a task that there is not', async () => {
    const taskId = 'tk_01K00000000000000000000000';
    await crew.refuses(() => crew.execute({ ...newExecution, taskId }), 422, 'unknown_reference');
  });

  it('with 409 for an agent that is not active', async () => {
    await crew.registry.update('writer', { status: 'inactive' });
    await crew.refuses(() => crew.execute(), 409, 'agent_not_active');
  });

  it('with 409 for a task that waits', async () => {
    const taskId = await crew.board.put({ dependsOn: [await crew.board.put()] });
    await crew.refuses(() => crew.execute({ ...newExecution, taskId }), 409, 'task_blocked');
  });
});

it('reads and changes go on at the cap', async () => {
  expect(listed(await crew.list('status=running'))[1]).toBe(cap);
  expect((await crew.registry.update('writer', { displayName: 'W' })).status).toBe(200);
});
