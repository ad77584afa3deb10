import { beforeEach, describe, expect, it, vi } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { Claim } from '../../../lib/contract/tasks/claims.ts';
import type { Task } from '../../../lib/contract/tasks/tasks.ts';
import { sweepTasks } from '../../../lib/tasks/due-tasks.ts';
import { dataOf, errorOf, paginationOf, versionOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import type { Answer } from '../../service.ts';
import { newAgent } from '../agents/test-agents.ts';
import { createTaskCallers } from './task-caller.ts';

const start = Date.parse('2026-03-01T12:00:00.000Z');
vi.useFakeTimers({ toFake: ['Date'], now: start });
const { newTaskCaller } = await createTaskCallers();
const caller = newForEachTest(newTaskCaller);
let id: string;
beforeEach(async () => {
  vi.setSystemTime(start);
  id = await caller.put({ status: 'assigned' });
});

const wait = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1_000);
const read = async (task = id) => dataOf<Task>(await caller.getTask({ params: { id: task } }));
const claim = (body: object = {}, task = id) =>
  caller.claimTask({ params: { id: task }, body: { worker: 'Ada', ...body } });
const renew = (body: object) => caller.renewClaim({ params: { id }, body });
const release = (body: object) => caller.releaseTask({ params: { id }, body });
const takeBack = () => caller.takeBackTask({ params: { id } });
const patch = (body: object) => caller.updateTask({ params: { id }, body });
const refused = (send: () => Promise<Answer>, code: string) => caller.refuses(send, 409, code);
const claimOf = (answer: Answer) => dataOf<Task>(answer).claim as Claim;
const claimed = async (body: object = {}) => claimOf(await claim(body)).id;
const anotherId = (claimId: string) => claimId.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
const total = async (status: string) => paginationOf(await caller.listTasks({ query: `status=${status}` })).total;

/** Releases the task as failed so many times. */
async function fail(times: number) {
  for (let nth = 1; nth <= times; nth++)
    await release({ claimId: await claimed(), failed: true, note: `No wood, ${nth}.` });
}

describe('a claim', () => {
  it('answers the task, in progress, with the claim, and reads show it', async () => {
    const answer = await claim();
    const expiresAt = timestamp(start + 900_000);
    expect(answer.status).toBe(200);
    expect(dataOf(answer)).toEqual({
      ...{ id, title: 'A task', status: 'in_progress', priority: 'medium', dependsOn: [] },
      claim: { id: expect.stringMatching(/^cl_[0-9A-Z]{26}$/), worker: 'Ada', expiresAt },
      ...{ createdAt: timestamp(start), updatedAt: timestamp(start) },
    });
    expect((await read()).claim).toEqual(claimOf(answer));
    expect(dataOf<Task[]>(await caller.listTasks())).toMatchObject([{ claim: claimOf(answer) }]);
    expect([await total('assigned'), await total('in_progress')]).toEqual([0, 1]);
    expect(versionOf(await caller.getTask({ params: { id } }))).toBe(2);
  });

  it('lasts as long as it says', async () => {
    expect(claimOf(await claim({ leaseSeconds: 86_400 })).expiresAt).toBe(timestamp(start + 86_400_000));
  });

  it.each([
    ['worker', { worker: '' }],
    ['worker', { worker: '\u200b' }],
    ['worker', { worker: 'a'.repeat(101) }],
    ['leaseSeconds', { leaseSeconds: 59 }],
    ['leaseSeconds', { leaseSeconds: 86_401 }],
    ['leaseSeconds', { leaseSeconds: 60.5 }],
    ['claimId', { claimId: 'cl_1' }],
  ])('with an invalid %s is refused: %j', async (path, body) => {
    const { details } = await caller.refuses(() => claim(body), 400, 'validation_failed');
    expect(details).toMatchObject([{ path }]);
  });

  it('is renewed by a further request that names it', async () => {
    const claimId = await claimed();
    wait(60);
    const again = claimOf(await claim({ claimId, leaseSeconds: 60 }));
    expect(again).toEqual({ id: claimId, worker: 'Ada', expiresAt: timestamp(start + 120_000) });
    await refused(() => claim({ claimId: anotherId(claimId) }), 'claim_lost');
  });

  it('refuses another one, which gets the worker and the end of the first', async () => {
    const { expiresAt } = claimOf(await claim());
    const { details } = await refused(() => claim({ worker: 'Bob' }), 'task_claimed');
    expect(details).toMatchObject([{ worker: 'Ada', expiresAt }]);
  });

  it('is refused while a dependency is not done, which the details name', async () => {
    const dependency = await caller.put();
    const blocked = await caller.put({ dependsOn: [dependency] });
    const { details } = await refused(() => claim({}, blocked), 'task_blocked');
    expect(details).toMatchObject([{ message: `${dependency} is backlog.` }]);
  });

  it.each(['in_progress', 'qa_review', 'up_for_review', 'done'])('is refused for a task in %s', async (status) => {
    await patch({ status });
    await refused(claim, 'task_not_open');
  });

  it('is refused while an execution works on the task, whatever its status', async () => {
    await caller.createAgent({ body: newAgent });
    await caller.executeAgent({ params: { name: newAgent.name }, body: { input: 'Write.', taskId: id } });
    await refused(claim, 'execution_running');
    await patch({ status: 'backlog' });
    await refused(claim, 'execution_running');
  });

  it('refuses executions on the task', async () => {
    await caller.createAgent({ body: newAgent });
    const claimId = await claimed();
    const execute = () =>
      caller.executeAgent({ params: { name: newAgent.name }, body: { input: 'Write.', taskId: id } });
    await refused(execute, 'task_claimed');
    await release({ claimId });
    expect((await execute()).status).toBe(200);
  });

  it('refuses the deletion of the task', async () => {
    const claimId = await claimed();
    await refused(() => caller.deleteTask({ params: { id } }), 'task_claimed');
    await release({ claimId });
    expect((await caller.deleteTask({ params: { id } })).status).toBe(200);
  });
});

describe('while a claim lasts', () => {
  it.each([
    { status: 'in_progress' },
    { status: 'done' },
    { description: 'Mine.' },
    { title: 'New', description: null },
  ])('a PATCH of %j is refused without the claim, and made with it', async (body) => {
    const claimId = await claimed();
    const { details } = await refused(() => patch(body), 'task_claimed');
    expect(details).toMatchObject([{ worker: 'Ada' }]);
    expect((await patch({ ...body, claimId })).status).toBe(200);
    expect((await read()).claim?.id).toBe(claimId);
  });

  it('a PATCH of other fields is made', async () => {
    const claimId = await claimed();
    expect((await patch({ title: 'New', priority: 'high' })).status).toBe(200);
    expect(await read()).toMatchObject({ title: 'New', status: 'in_progress', claim: { id: claimId } });
  });

  it('a PATCH with another claim is refused, and also after its end', async () => {
    const claimId = await claimed();
    await refused(() => patch({ title: 'New', claimId: anotherId(claimId) }), 'claim_lost');
    await release({ claimId });
    await refused(() => patch({ title: 'New', claimId }), 'claim_lost');
  });
});

describe('a renewal', () => {
  it('extends the claim from now on, and keeps the version, updatedAt and the note', async () => {
    const claimId = await claimed();
    wait(100);
    expect(claimOf(await renew({ claimId, note: 'Half of it.' }))).toEqual({
      ...{ id: claimId, worker: 'Ada', note: 'Half of it.', expiresAt: timestamp(start + 1_000_000) },
    });
    wait(10);
    await renew({ claimId, leaseSeconds: 60 });
    const expiresAt = timestamp(start + 170_000);
    expect(await read()).toMatchObject({ updatedAt: timestamp(start), claim: { note: 'Half of it.', expiresAt } });
    expect(versionOf(await caller.getTask({ params: { id } }))).toBe(2);
  });

  it('is refused once the claim is over', async () => {
    const claimId = await claimed({ leaseSeconds: 60 });
    wait(60);
    await refused(() => renew({ claimId }), 'claim_lost');
  });
});

describe('a release', () => {
  it.each([
    ['the status from before', {}, 'assigned'],
    ['the status that it names', { status: 'up_for_review' }, 'up_for_review'],
  ])('gives the task %s', async (_, body, status) => {
    const claimId = await claimed();
    const answer = await release({ claimId, ...body });
    expect(dataOf(answer)).toMatchObject({ status });
    expect(dataOf(answer)).not.toHaveProperty('claim');
    expect(await total(status)).toBe(1);
    await refused(() => release({ claimId }), 'claim_lost');
  });

  it('keeps the status that the worker has set meanwhile', async () => {
    const claimId = await claimed();
    await patch({ status: 'qa_review', claimId });
    expect(dataOf(await release({ claimId }))).toMatchObject({ status: 'qa_review' });
  });

  it('as failed, three times in a row, stops the task until somebody changes its status, assigns it or takes it back', async () => {
    await caller.createAgent({ body: newAgent });
    const ways = [() => patch({ status: 'backlog' }), () => patch({ assignedAgent: newAgent.name }), () => takeBack()];
    for (const way of ways) {
      await fail(3);
      const { stopped } = await read();
      expect(stopped).toEqual({
        reason: '3 workers in a row have released it as failed, the last one with: No wood, 3.',
        at: timestamp(Date.now()),
      });
      await refused(claim, 'task_not_open');
      await patch({ title: 'Another title' });
      expect((await read()).stopped).toEqual(stopped);
      expect((await way()).status).toBe(200);
      expect(await read()).not.toHaveProperty('stopped');
    }
    expect((await claim()).status).toBe(200);
  });

  it('that succeeds in between begins the count anew', async () => {
    await fail(2);
    await release({ claimId: await claimed() });
    await fail(2);
    expect(await read()).not.toHaveProperty('stopped');
  });
});

describe('a task that is taken back', () => {
  it('has the status from before, and its worker has lost it', async () => {
    const claimId = await claimed();
    expect(dataOf(await takeBack())).toMatchObject({ status: 'assigned' });
    await refused(() => renew({ claimId }), 'claim_lost');
    expect((await claim({ worker: 'Bob' })).status).toBe(200);
  });

  it('has a claim or is stopped: 404 otherwise', async () => {
    await caller.refuses(takeBack, 404, 'not_found');
  });
});

describe('a claim that is over', () => {
  it('is not shown, and does not refuse another claim, a PATCH, an execution or a deletion', async () => {
    await caller.createAgent({ body: newAgent });
    const ways = [
      () => claim({ worker: 'Bob' }),
      () => patch({ status: 'done' }),
      () => caller.executeAgent({ params: { name: newAgent.name }, body: { input: 'Write.', taskId: id } }),
      () => caller.deleteTask({ params: { id } }),
    ];
    for (const way of ways) {
      id = await caller.put();
      await claimed({ leaseSeconds: 60 });
      wait(60);
      expect(await read()).not.toHaveProperty('claim');
      expect((await way()).status).toBe(200);
    }
  });

  it('leaves the task its status from before once the sweeper has looked, and not before', async () => {
    await claimed({ leaseSeconds: 60 });
    const sweep = () => sweepTasks(processContext(), { until: Date.now() });
    wait(59);
    await sweep();
    expect(await read()).toMatchObject({ status: 'in_progress', claim: { worker: 'Ada' } });
    wait(1);
    await sweep();
    expect(await read()).toMatchObject({ status: 'assigned' });
    expect(versionOf(await caller.getTask({ params: { id } }))).toBe(3);
    wait(3_600);
    await sweep();
    expect(versionOf(await caller.getTask({ params: { id } }))).toBe(3);
  });

  it('is looked at when it is over, also if it was renewed', async () => {
    const claimId = await claimed({ leaseSeconds: 60 });
    wait(59);
    await renew({ claimId, leaseSeconds: 60 });
    wait(59);
    await sweepTasks(processContext(), { until: Date.now() });
    expect(await read()).toMatchObject({ claim: { id: claimId } });
    wait(1);
    await sweepTasks(processContext(), { until: Date.now() });
    expect((await read()).status).toBe('assigned');
  });
});

it('of eight claims at the same time one succeeds', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, (_, nth) => claim({ worker: `worker ${nth}` })));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(7).fill(409)]);
  const codes = answers.flatMap((answer) => errorOf(answer)?.code ?? []);
  expect(new Set(codes)).toEqual(new Set(['task_claimed']));
  const won = answers.find(({ status }) => status === 200) as Answer;
  expect((await read()).claim).toEqual(claimOf(won));
});

it('403 for a token without tasks:write', async () => {
  const reader = await newTaskCaller(['tasks:read']);
  const params = { id };
  for (const send of [
    () => reader.claimTask({ params, body: { worker: 'Ada' } }),
    () => reader.claimNextTask({ body: { worker: 'Ada' } }),
    () => reader.takeBackTask({ params }),
  ])
    await reader.refuses(send, 403, 'insufficient_scope');
});
