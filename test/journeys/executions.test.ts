import { expect, it } from 'vitest';
import type { Execution } from '../../lib/contract/executions.ts';
import { type Deployment, startDeployment, until } from './deployment.ts';
import { countOf, createAgent, endings, endOf, execute, readExecution, toldOf } from './executions.ts';
import { startHeldModel } from './held-model.ts';
import { startReceiver } from './receiver.ts';
import { attemptsOf, createTask, newToken, register } from './stories.ts';

const model = await startHeldModel();
const service = await startDeployment({ environment: { ...model.environment, RUNNING_CAP: '2' } });

/** The service as an organization of its own sees it: nobody else takes its places. */
async function newOffice(organization: string) {
  const token = await newToken(service, organization);
  const api: Deployment['api'] = (method, path, sent) => service.api(method, path, { token, ...sent });
  return { api, token };
}

/** Starts an execution and waits until its model was asked. */
async function begin(office: Pick<Deployment, 'api'>, agent: string, more: object = {}): Promise<string> {
  const asked = model.count();
  const id = await execute(office, agent, 'Do it', more);
  await model.asked(asked + 1);
  return id;
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

it('carries a task through an execution, and tells a receiver of each step', async () => {
  const office = await newOffice('told');
  const { api } = office;
  const receiver = await startReceiver();
  const events = ['agent.spawned', ...endings, 'task.status_changed', 'task.completed'];
  const webhook = await register(office, { url: receiver.url, events });
  const agent = await createAgent(office, 'story-teller', { soul: 'Plain.', systemPrompt: 'Tell stories.' });
  const taskId = await createTask(office, 'A story');
  const body = { input: 'Tell it', taskId, context: { lines: 3 } };
  const asked = model.count();
  const started = await api('POST', `/api/agents/${agent}/execute`, { body });
  const { executionId: id = '', startedAt } = started.body.data;
  expect([started.status, started.body.data]).toEqual([
    200,
    { executionId: expect.stringMatching(/^ex_/), agentName: agent, status: 'running', startedAt: expect.anything() },
  ]);
  const begun = { id, agentName: agent, taskId, status: 'running', startedAt };
  const pending = { selfTest: 'pending', qaReview: 'pending' };
  expect(await readExecution(office, agent, id)).toEqual({
    ...begun,
    input: 'Tell it',
    model: expect.any(String),
    qualityGates: pending,
  });
  const task = await api('GET', `/api/kanban-tasks/${taskId}`);
  expect(task.body.data).toMatchObject({ status: 'in_progress', assignedAgent: agent });

  await model.asked(asked + 1);
  model.answer();
  const ended = await endOf(office, agent, id);
  expect(ended).toEqual({
    ...begun,
    status: 'completed',
    completedAt: expect.stringMatching(isoTime),
    durationMs: Date.parse(ended.completedAt as string) - Date.parse(startedAt as string),
    input: 'Tell it',
    output: 'It is done.',
    model: expect.any(String),
    // Three calls of twelve: the work and its two gates.
    tokensUsed: 36,
    qualityGates: { selfTest: 'passed', qaReview: 'passed' },
  });
  const reviewed = await api('GET', `/api/kanban-tasks/${taskId}`);
  expect(reviewed.body.data.status).toBe('up_for_review');
  const { input: _, output: __, model: ___, qualityGates: ____, tokensUsed, ...listed } = ended;
  expect((await api('GET', `/api/agents/${agent}/executions`)).body.data).toEqual([listed]);

  await attemptsOf(office, webhook, 4);
  const told = receiver.received.map(({ body: { event, data } }) => ({ event, ...data }));
  const moved = { id: taskId, title: 'A story', assignedAgent: agent };
  expect(told.sort((a, b) => (a.occurredAt + a.event < b.occurredAt + b.event ? -1 : 1))).toEqual([
    { event: 'agent.spawned', execution: begun, occurredAt: startedAt },
    {
      event: 'task.status_changed',
      task: { ...moved, previousStatus: 'backlog', status: 'in_progress' },
      occurredAt: expect.stringMatching(isoTime),
    },
    { event: 'agent.completed', execution: { ...listed, tokensUsed }, occurredAt: ended.completedAt },
    {
      event: 'task.status_changed',
      task: { ...moved, previousStatus: 'in_progress', status: 'up_for_review' },
      occurredAt: ended.completedAt,
    },
  ]);
});

it('refuses one more than may run at once, and takes it once one of them has ended', async () => {
  const office = await newOffice('cap');
  const { api } = office;
  const agent = await createAgent(office, 'busy-bee');
  const taskId = await createTask(office, 'One too many');
  const first = await begin(office, agent);
  const second = await begin(office, agent);
  const third = { body: { input: 'Me too', taskId } };
  const refused = await api('POST', `/api/agents/${agent}/execute`, third);
  expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
  expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect((await api('GET', `/api/agents/${agent}/executions`)).body.pagination.total).toBe(2);
  expect((await api('GET', `/api/kanban-tasks/${taskId}`)).body.data.status).toBe('backlog');
  model.answer(1);
  await until('one ends', async () => (await countOf(office, 'running')) === 1);
  const taken = await begin(office, agent, { taskId });
  model.answer();
  for (const id of [first, second, taken]) expect((await endOf(office, agent, id)).status).toBe('completed');
});

it('hands a task on while it is worked on, tells a receiver of both, and does not let it come back', async () => {
  const office = await newOffice('handed-on');
  const { api } = office;
  const receiver = await startReceiver();
  await register(office, { url: receiver.url, events: ['agent.spawned', ...endings] });
  const [from, to] = [await createAgent(office, 'lead'), await createAgent(office, 'hand')];
  const taskId = await createTask(office, 'Shared');
  const own = await begin(office, from, { taskId });

  const asked = model.count();
  const delegate = (by: string, toAgent: string) =>
    api('POST', `/api/agents/${by}/delegate`, {
      body: { toAgent, taskId, instruction: 'Your part', context: { n: 1 } },
    });
  const handed = await delegate(from, to);
  const delegationId = expect.stringMatching(/^dl_/);
  expect([handed.status, handed.body.data]).toEqual([
    200,
    { delegationId, fromAgent: from, toAgent: to, status: 'accepted' },
  ]);
  await model.asked(asked + 1);
  const list = await api<Execution[]>('GET', `/api/agents/${to}/executions`);
  const id = list.body.data[0]?.id as string;
  expect(await readExecution(office, to, id)).toMatchObject({
    ...{ agentName: to, taskId, status: 'running', input: 'Your part', delegationId: handed.body.data.delegationId },
  });
  const back = await delegate(to, from);
  expect([back.status, back.body.error.code]).toEqual([409, 'delegation_cycle']);

  model.answer();
  expect((await endOf(office, to, id)).status).toBe('completed');
  expect((await endOf(office, from, own)).status).toBe('completed');
  await receiver.once('both have ended', () => [own, id].every((one) => toldOf(receiver, one).length === 2));
  for (const one of [own, id]) expect(toldOf(receiver, one).sort()).toEqual(['agent.completed', 'agent.spawned']);
  expect(JSON.stringify(receiver.received)).not.toContain(handed.body.data.delegationId);
  expect(model.count()).toBe(asked + 1);
  expect((await api('GET', `/api/kanban-tasks/${taskId}`)).body.data.status).toBe('up_for_review');
});

it('ends what a deleted agent was at without a record or an event, and gives its task and its places back', async () => {
  const office = await newOffice('heirs');
  const { api } = office;
  const receiver = await startReceiver();
  await register(office, { url: receiver.url, events: ['agent.spawned', ...endings] });
  const [doomed, other] = [await createAgent(office, 'doomed'), await createAgent(office, 'heir')];
  const taskId = await createTask(office, 'Orphaned');
  const ran = [await begin(office, doomed, { taskId }), await begin(office, doomed)];
  const before = (await api('GET', '/api/agents/executions')).body.pagination.total;
  expect((await api('DELETE', `/api/agents/${doomed}`)).text).toBe('{"success":true}');
  expect((await api('GET', '/api/agents/executions')).body.pagination.total).toBe(before - 2);
  expect(await countOf(office, 'running')).toBe(0);
  expect((await api('GET', `/api/agents/${doomed}/executions/${ran[0]}`)).status).toBe(404);
  const statusOf = async () => (await api('GET', `/api/kanban-tasks/${taskId}`)).body.data.status;
  await until('the task is assigned', async () => (await statusOf()) === 'assigned');

  const asked = model.count();
  // Both places are free again, and what the model answers to the dead comes to nothing.
  const input = { body: { input: 'After them' } };
  const start = async () => (await api('POST', `/api/agents/${other}/execute`, input)).body.data?.executionId;
  const heirs = [await until('a place is free', start), await until('both are', start)] as string[];
  await model.asked(asked + 2);
  model.answer();
  for (const id of heirs) expect((await endOf(office, other, id)).status).toBe('completed');
  await receiver.once('the ends of what came after', () => heirs.every((id) => toldOf(receiver, id).length === 2));
  for (const id of ran) expect(toldOf(receiver, id)).toEqual(['agent.spawned']);
  expect((await api('GET', '/api/agents/executions')).body.pagination.total).toBe(before);
  expect(await statusOf()).toBe('assigned');
});
