import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import type { Actor } from '../../../lib/contract/actors.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { Comment } from '../../../lib/contract/tasks/comments.ts';
import type { HistoryEntry } from '../../../lib/contract/tasks/history.ts';
import type { Task } from '../../../lib/contract/tasks/tasks.ts';
import { runExecution } from '../../../lib/executions/run/run-execution.ts';
import { issueToken } from '../../../lib/http/issue-token.ts';
import type { Model, Question } from '../../../lib/model/converse.ts';
import { putEntries } from '../../../lib/table/history/history-rows.ts';
import { sweepTasks } from '../../../lib/tasks/due-tasks.ts';
import { callAgentTool, grantedTools } from '../../../lib/tools/agent-tools.ts';
import { dataOf, paginationOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { purposeOf } from '../../executions/test-executions.ts';
import { conversation, lastResults } from '../../executions/tool-scripts.ts';
import { type Answer, newCaller } from '../../service.ts';
import { newAgent } from '../agents/test-agents.ts';
import { passing } from '../executions/test-executions.ts';
import { publish } from '../pipeline/call-functions.ts';
import { createPublisher } from '../pipeline/publish-events/publish-changes.ts';
import { openServiceWithQueues } from '../service-with-queues.ts';
import { taskCallerOf } from './task-caller.ts';

const start = Date.parse('2026-03-01T12:00:00.000Z');
vi.useFakeTimers({ toFake: ['Date'], now: start });
const { service } = await openServiceWithQueues();
const publishChanges = createPublisher(service);

/** Creates an organization, and a caller of the API by its token `Ada`, which is one of a person. */
async function newTaskCaller() {
  const { organization } = await newCaller(processContext());
  const scopes = ['tasks:read', 'tasks:write', 'agents:read', 'agents:write', 'agents:execute'] as const;
  const token = await issueToken(processContext(), { organization, name: 'Ada', person: true, scopes });
  return taskCallerOf(service, organization, token);
}

const caller = newForEachTest(newTaskCaller);
let id: string;
let ada: Actor;
beforeEach(async () => {
  vi.setSystemTime(start);
  ada = { kind: 'person', name: 'Ada', id: caller.token.slice(5, 17) };
  await caller.createAgent({ body: newAgent });
  id = await caller.put({ status: 'assigned', assignedAgent: newAgent.name });
});

const crewboard: Actor = { kind: 'service', name: 'Crewboard' };
const wait = (seconds = 1) => vi.setSystemTime(Date.now() + seconds * 1_000);
const params = () => ({ id });
const history = (query = '', task = id) => caller.getTaskHistory({ params: { id: task }, query });

/** Returns the history of the task, the oldest entry first. */
async function entries(task = id): Promise<HistoryEntry[]> {
  await publishChanges();
  return dataOf<HistoryEntry[]>(await history('limit=100', task)).toReversed();
}

/** Returns the entries that an action adds to the history, without their ids, times and requests. */
async function added(act: () => Promise<unknown>, task = id) {
  const before = (await entries(task)).length;
  wait();
  await act();
  return (await entries(task)).slice(before).map(({ id, at, requestId, ...entry }) => entry);
}

const patch = (body: object) => caller.updateTask({ params: params(), body });
const claim = (body: object = {}) => caller.claimTask({ params: params(), body: { worker: 'Bob', ...body } });
const claimed = async (body: object = {}) => dataOf<Task>(await claim(body)).claim?.id as string;
const release = (body: object) => caller.releaseTask({ params: params(), body });
const review = (body: object) => caller.reviewTask({ params: params(), body });
const comment = (text: string) => caller.commentOnTask({ params: params(), body: { text } });
const agentOf = async () => dataOf<{ id: string }>(await caller.getAgent({ params: { name: newAgent.name } })).id;
const execute = async () => {
  const answer = await caller.executeAgent({ params: { name: newAgent.name }, body: { input: 'Write.', taskId: id } });
  return dataOf<{ executionId: string }>(answer).executionId;
};
const carryOut = (executionId: string, model: Model = passing()) =>
  runExecution(
    processContext(),
    { organization: caller.organization, executionId },
    { model, catalogue: [], agentTools: { grantedTools, callTool: callAgentTool } },
  );
const statusChange = (from: string, to: string) => [{ field: 'status', from, to }];

describe('an entry', () => {
  it('names the request and the token that have made the change, and its time', async () => {
    wait();
    const { headers } = await patch({ title: 'Renamed' });
    const [, entry] = await entries();
    expect(entry).toEqual({
      id: expect.stringMatching(/^hi_[0-9A-Z]{26}$/),
      ...{ at: timestamp(start + 1_000), kind: 'changed', by: ada, requestId: headers['X-Request-Id'] },
      changes: [{ field: 'title', from: 'A task', to: 'Renamed' }],
    });
  });

  it('of a token without a name has its id as the name', async () => {
    const { organization } = caller;
    const token = await issueToken(processContext(), { organization, scopes: ['tasks:write'] });
    const tokenId = token.slice(5, 17);
    expect(await added(() => caller.updateTask({ params: params(), body: { priority: 'low' }, token }))).toEqual([
      {
        ...{ kind: 'changed', by: { kind: 'token', name: tokenId, id: tokenId } },
        changes: [{ field: 'priority', from: 'medium', to: 'low' }],
      },
    ]);
  });

  it('is the same after records of the stream that come again, late and in another order', async () => {
    await claim();
    wait();
    await comment('Hello.');
    wait();
    await caller.takeBackTask({ params: params() });
    const before = await entries();
    expect(new Set(before.map((entry) => entry.id)).size).toBe(4);
    const records = await service.changes.after(undefined, 10_000);
    await publish(...records.toReversed());
    await publish(...records);
    expect(await entries()).toEqual(before);
  });
});

describe('the creation of a task', () => {
  it('is an entry with all fields that are set', async () => {
    const first = await caller.put();
    const fields = { title: 'New', description: 'Short.', priority: 'high', projectId: 'proj_1', dependsOn: [first] };
    const task = await caller.put(fields);
    const [entry, ...others] = await entries(task);
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ kind: 'created', by: ada });
    expect(Object.fromEntries((entry?.changes ?? []).map(({ field, to }) => [field, to]))).toEqual({
      ...fields,
      status: 'backlog',
    });
    expect(new Set(entry?.changes?.map(({ from }) => from))).toEqual(new Set([null]));
  });
});

describe('a change of fields', () => {
  it('is one entry for a request, with the values before and after, null for none', async () => {
    const first = await caller.put();
    const body = { title: 'Renamed', assignedAgent: null, projectId: 'proj_1', dependsOn: [first], status: 'backlog' };
    expect(await added(() => patch(body))).toEqual([
      {
        ...{ kind: 'changed', by: ada },
        changes: [
          { field: 'title', from: 'A task', to: 'Renamed' },
          { field: 'status', from: 'assigned', to: 'backlog' },
          { field: 'assignedAgent', from: newAgent.name, to: null },
          { field: 'projectId', from: null, to: 'proj_1' },
          { field: 'dependsOn', from: null, to: [first] },
        ],
      },
    ]);
    expect(await added(() => patch(body))).toEqual([]);
  });

  it('names a long text by its length and hash', async () => {
    const [short, long] = ['😀'.repeat(200), '😀'.repeat(201)];
    const hash = `sha256:${createHash('sha256').update(long).digest('hex')}`;
    const changes = async (description: string | null) => (await added(() => patch({ description })))[0]?.changes;
    expect(await changes(short)).toEqual([{ field: 'description', from: null, to: short }]);
    expect(await changes(long)).toEqual([{ field: 'description', from: short, to: { length: 201, hash } }]);
    expect(await changes(null)).toEqual([{ field: 'description', from: { length: 201, hash }, to: null }]);
  });

  it('has none for a new dependent, or for a dependency that is finished', async () => {
    const [first, second] = [await caller.put(), await caller.put()];
    expect(await added(() => patch({ dependsOn: [first] }), first)).toEqual([]);
    const finish = () => caller.updateTask({ params: { id: first }, body: { status: 'done' } });
    expect(await added(finish)).toEqual([]);
    expect(await added(() => patch({ dependsOn: [first, second] }))).toMatchObject([
      { changes: [{ field: 'dependsOn', from: [first], to: [first, second] }] },
    ]);
  });

  it.each([1, 40])(
    'is one of the %s dependents of a deleted task, in the name of who has deleted it',
    async (count) => {
      const first = await caller.put();
      const dependents: string[] = [];
      for (let nth = 0; nth < count; nth++) dependents.push(await caller.put({ dependsOn: [first], status: 'done' }));
      const changes = [{ field: 'dependsOn', from: [first], to: null }];
      const remove = () => caller.deleteTask({ params: { id: first } });
      expect(await added(remove, dependents[0])).toEqual([{ kind: 'changed', by: ada, changes }]);
      for (const dependent of dependents) expect((await entries(dependent)).at(-1)).toMatchObject({ by: ada, changes });
    },
  );
});

describe('a claim', () => {
  it('is an entry that names the worker', async () => {
    expect(await added(claim)).toEqual([
      { kind: 'claimed', by: ada, changes: statusChange('assigned', 'in_progress'), note: 'Worker: Bob' },
    ]);
  });

  it('has an entry for each renewal with another note, and none for others', async () => {
    const claimId = await claimed();
    const renew = (note?: string) => added(() => caller.renewClaim({ params: params(), body: { claimId, note } }));
    expect(await renew()).toEqual([]);
    expect(await renew('Half of it.')).toEqual([{ kind: 'changed', by: ada, note: 'Half of it.' }]);
    expect(await renew('Half of it.')).toEqual([]);
    expect(await renew()).toEqual([]);
    expect(await renew('All of it.')).toEqual([{ kind: 'changed', by: ada, note: 'All of it.' }]);
    expect((await entries()).at(-1)?.at).toBe(timestamp(Date.now()));
  });

  it.each([
    [{}, 'assigned', 'Bob has released the task.'],
    [{ note: 'Ready.', status: 'up_for_review' }, 'up_for_review', 'Ready.'],
    [{ failed: true }, 'assigned', 'Bob has failed.'],
    [{ failed: true, note: 'No wood.' }, 'assigned', 'No wood.'],
  ])('that is released with %j has an entry', async (body, status, note) => {
    const claimId = await claimed();
    expect(await added(() => release({ claimId, ...body }))).toEqual([
      { kind: 'released', by: ada, changes: statusChange('in_progress', status), note },
    ]);
  });

  it('that stops the task says why', async () => {
    for (let nth = 1; nth < 3; nth++) await release({ claimId: await claimed(), failed: true });
    const claimId = await claimed();
    const [entry] = await added(() => release({ claimId, failed: true }));
    const reason = '3 workers in a row have released it as failed.';
    expect(entry).toMatchObject({
      kind: 'released',
      changes: [...statusChange('in_progress', 'assigned'), { field: 'stopped', from: null, to: reason }],
    });
    expect(await added(() => caller.takeBackTask({ params: params() }))).toEqual([
      { kind: 'changed', by: ada, changes: [{ field: 'stopped', from: reason, to: null }] },
    ]);
  });

  it('that is taken back has an entry in the name of who did it', async () => {
    await claim();
    expect(await added(() => caller.takeBackTask({ params: params() }))).toEqual([
      {
        ...{ kind: 'released', by: ada, changes: statusChange('in_progress', 'assigned') },
        note: 'The task was taken back from Bob.',
      },
    ]);
  });
});

describe('a claim that is over', () => {
  const expired = (changes = statusChange('in_progress', 'assigned')) => ({
    ...{ kind: 'released', by: crewboard, note: 'The claim of Bob has expired.' },
    ...(changes.length > 0 && { changes }),
  });
  beforeEach(async () => {
    await claim({ leaseSeconds: 60 });
    wait(60);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['the sweeper', () => sweepTasks(processContext(), { until: Date.now() })],
    ['somebody who takes the task back too late', () => caller.takeBackTask({ params: params() })],
  ])('is ended by the service, once %s has looked', async (_, act) => {
    expect(await added(act)).toEqual([expired()]);
  });

  it('is ended by the service before the next action, which has an entry of its own', async () => {
    expect(await added(() => claim({ worker: 'Eve' }))).toEqual([
      expired(),
      { kind: 'claimed', by: ada, changes: statusChange('assigned', 'in_progress'), note: 'Worker: Eve' },
    ]);
  });

  it.each([
    [{ status: 'done' }, statusChange('assigned', 'done')],
    [{ status: 'in_progress' }, statusChange('assigned', 'in_progress')],
    [{ priority: 'low' }, [{ field: 'priority', from: 'medium', to: 'low' }]],
  ])('is ended by the service before a change of %j', async (body, changes) => {
    expect(await added(() => patch(body))).toEqual([expired(), { kind: 'changed', by: ada, changes }]);
  });

  it('is ended by the service before an execution starts', async () => {
    let executionId = '';
    const act = async () => {
      executionId = await execute();
    };
    expect(await added(act)).toEqual([
      expired(),
      {
        ...{ kind: 'execution_started', by: { ...ada, executionId } },
        changes: statusChange('assigned', 'in_progress'),
      },
    ]);
  });

  it('has no changes if its worker had moved the task', async () => {
    await patch({ status: 'qa_review', claimId: await claimed() });
    await entries();
    wait(900);
    expect(await added(() => sweepTasks(processContext(), { until: Date.now() }))).toEqual([expired([])]);
  });
});

describe('a review', () => {
  it('is one entry with the start of its comment, which has none of its own', async () => {
    await patch({ status: 'qa_review' });
    const text = '😀'.repeat(281);
    expect(await added(() => review({ decision: 'send_back', comment: text }))).toEqual([
      {
        ...{ kind: 'reviewed', by: ada, changes: statusChange('qa_review', 'assigned') },
        note: `${'😀'.repeat(280)}…`,
      },
    ]);
    await patch({ status: 'up_for_review' });
    expect(await added(() => review({ decision: 'accept' }))).toEqual([
      { kind: 'reviewed', by: ada, changes: statusChange('up_for_review', 'done') },
    ]);
    expect(await added(() => patch({ priority: 'low' }))).toMatchObject([{ kind: 'changed' }]);
  });
});

describe('a comment', () => {
  it('is an entry with its start, also once it is changed or deleted', async () => {
    const expected = [{ kind: 'commented', by: ada, note: 'Hello.' }];
    expect(await added(() => comment('Hello.'))).toEqual(expected);
    const { id: commentId } = dataOf<Comment[]>(await caller.listComments({ params: params() }))[0] as Comment;
    const own = { params: { id, commentId } };
    expect(await added(() => caller.updateComment({ ...own, body: { text: 'Bye.' } }))).toEqual([]);
    expect(await added(() => caller.deleteComment(own))).toEqual([]);
    expect((await entries()).at(-1)).toMatchObject(expected[0] as object);
  });
});

describe('an execution', () => {
  it('has an entry for its start, in the name of who has started it, and one for its end, in that of its agent', async () => {
    let executionId = '';
    const started = await added(async () => {
      executionId = await execute();
    });
    expect(started).toEqual([
      {
        ...{ kind: 'execution_started', by: { ...ada, executionId } },
        changes: statusChange('assigned', 'in_progress'),
      },
    ]);
    const agent: Actor = { kind: 'agent', name: newAgent.name, id: await agentOf(), executionId };
    expect(await added(() => carryOut(executionId))).toEqual([
      { kind: 'execution_ended', by: agent, changes: statusChange('in_progress', 'up_for_review') },
    ]);
  });

  it('that fails says so', async () => {
    const executionId = await execute();
    const fail: Model = async () => ({ kind: 'failed', error: 'model_failed', tokens: 0 });
    expect(await added(() => carryOut(executionId, fail))).toMatchObject([
      {
        ...{ kind: 'execution_ended', by: { kind: 'agent', executionId } },
        ...{ changes: statusChange('in_progress', 'assigned'), note: 'The execution did not complete.' },
      },
    ]);
  });

  it('that is cancelled names who did it', async () => {
    const executionId = await execute();
    const cancel = () => caller.cancelExecution({ params: { name: newAgent.name, id: executionId } });
    expect(await added(cancel)).toEqual([
      {
        ...{ kind: 'execution_ended', by: { ...ada, executionId }, note: 'The execution did not complete.' },
        changes: statusChange('in_progress', 'assigned'),
      },
    ]);
  });

  it('that the gates accept says so', async () => {
    await caller.updateAgent({ params: { name: newAgent.name }, body: { autoRun: true, autoAccept: true } });
    const executionId = await execute();
    expect(await added(() => carryOut(executionId))).toMatchObject([
      {
        ...{ kind: 'execution_ended', changes: statusChange('in_progress', 'done') },
        note: 'Accepted by the quality gates.',
      },
    ]);
  });

  it('beside another one has entries without changes', async () => {
    const first = await execute();
    let second = '';
    const started = await added(async () => {
      second = await execute();
    });
    expect(started).toEqual([{ kind: 'execution_started', by: { ...ada, executionId: second } }]);
    expect(await added(() => carryOut(second))).toMatchObject([
      { kind: 'execution_ended', by: { kind: 'agent', executionId: second } },
    ]);
    expect(await added(() => carryOut(first))).toMatchObject([
      { kind: 'execution_ended', by: { executionId: first }, changes: statusChange('in_progress', 'up_for_review') },
    ]);
  });

  it('on a task that somebody has moved ends without changes', async () => {
    const executionId = await execute();
    await patch({ status: 'backlog' });
    const [ended, ...others] = await added(() => carryOut(executionId));
    expect(ended).toMatchObject({ kind: 'execution_ended', by: { kind: 'agent', executionId } });
    expect(ended).not.toHaveProperty('changes');
    expect(others).toEqual([]);
  });

  it('names the agent whose tools change a task', async () => {
    await caller.updateAgent({ params: { name: newAgent.name }, body: { capabilities: ['tasks.write'] } });
    const executionId = await execute();
    const idOf = (question: Question) => lastResults(question)[0]?.data?.id;
    const script = conversation([
      [['create_task', { title: 'A part' }]],
      (question) => [['update_task', { id: idOf(question), priority: 'high' }]],
      (question) => [['comment', { id: idOf(question), text: 'It comes first.' }]],
      'Done.',
    ]);
    const model: Model = async (question) =>
      purposeOf(question) === 'work' ? script(question) : { kind: 'text', text: 'VERDICT: PASS', tokens: 1 };
    await carryOut(executionId, model);
    const [part] = dataOf<Task[]>(await caller.listTasks()).filter(({ title }) => title === 'A part');
    const by = { kind: 'agent', name: newAgent.name, id: await agentOf(), executionId };
    const { executionId: _, ...author } = by;
    expect(await entries(part?.id)).toMatchObject([
      { kind: 'created', by },
      { kind: 'changed', by, changes: [{ field: 'priority', from: 'medium', to: 'high' }] },
      { kind: 'commented', by: author, note: 'It comes first.' },
    ]);
  });
});

describe('the list of entries', () => {
  it('is newest first, in pages, with the exact total', async () => {
    for (const title of ['One', 'Two', 'Three']) {
      wait();
      await patch({ title });
    }
    await publishChanges();
    const titles = async (query: string) =>
      dataOf<HistoryEntry[]>(await history(query)).map(({ changes }) => changes?.[0]?.to);
    expect(await titles('')).toEqual(['Three', 'Two', 'One', 'A task']);
    expect(await titles('limit=2&offset=1')).toEqual(['Two', 'One']);
    const beyond = await history('limit=2&offset=4');
    expect([dataOf(beyond), paginationOf(beyond)]).toEqual([[], { limit: 2, offset: 4, total: 4 }]);
  });

  it('has the newest 1,000', async () => {
    await publishChanges();
    const subject = { organization: caller.organization, of: 'task', id } as const;
    const more = Array.from({ length: 1_000 }, (_, nth) => ({
      ...{ at: timestamp(start + 1_000 + nth), order: '000000002#1', kind: 'changed' as const, by: ada },
      note: `Note ${nth}`,
    }));
    await putEntries(processContext(), subject, more);
    expect(paginationOf(await history()).total).toBe(1_000);
    expect(dataOf<HistoryEntry[]>(await history('offset=999'))).toMatchObject([{ note: 'Note 0' }]);
  });

  it.each(['limit=0', 'offset=-1', 'kind=created'])('rejects %s', async (query) => {
    await caller.refuses(() => history(query), 400, 'validation_failed');
  });

  it('404 for a task that is deleted, does not exist, or is of another organization', async () => {
    const theirs = await (await newTaskCaller()).put();
    await caller.deleteTask({ params: params() });
    await publishChanges();
    for (const task of [id, 'tk_01K00000000000000000000000', 'tk_1', theirs])
      await caller.refuses(() => history('', task), 404, 'not_found');
  });

  it('403 for a token without tasks:read', async () => {
    const token = await issueToken(processContext(), { organization: caller.organization, scopes: ['tasks:write'] });
    const send = (): Promise<Answer> => caller.getTaskHistory({ params: params(), token });
    await caller.refuses(send, 403, 'insufficient_scope');
  });
});
