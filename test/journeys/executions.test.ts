import { expect, it } from 'vitest';
import type { ExecutionStarted } from '../../lib/contract/executions.ts';
import { dataOf, paginationOf, successOf } from '../api.ts';
import { createApiOverHttp } from '../api-over-http.ts';
import { startDeployment, until } from './deployment.ts';
import { startHeldModel } from './held-model.ts';
import { startReceiver } from './receiver.ts';
import {
  attemptsOf,
  countOf,
  createAgent,
  createTask,
  endings,
  endOf,
  eventsAbout,
  execute,
  newToken,
  readExecution,
  readTask,
  register,
} from './requests.ts';

const model = await startHeldModel();
const service = await startDeployment({ environment: { ...model.environment, RUNNING_CAP: '2' } });

/** Creates an organization, with a running cap of its own. */
async function newOrganization(name: string) {
  return { api: createApiOverHttp(service.url, await newToken(service, name)) };
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

it('an execution moves its task, and each step is delivered to a webhook', async () => {
  const organization = await newOrganization('with-a-webhook');
  const { api } = organization;
  const receiver = await startReceiver();
  const events = ['agent.spawned', ...endings, 'task.status_changed', 'task.completed'];
  const webhook = await register(organization, { url: receiver.url, events });
  const agent = await createAgent(organization, 'writer', { soul: 'Plain.', systemPrompt: 'Write notes.' });
  const taskId = await createTask(organization, 'Notes');
  const body = { input: 'Write them', taskId, context: { lines: 3 } };
  const asked = model.count();
  const started = successOf<ExecutionStarted>(await api.executeAgent({ params: { name: agent }, body }));
  const { executionId: id, startedAt } = started;
  expect(started).toEqual({
    executionId: expect.stringMatching(/^ex_/),
    agentName: agent,
    status: 'running',
    startedAt,
  });
  const begun = { id, agentName: agent, taskId, status: 'running', startedAt };
  expect(await readExecution(organization, agent, id)).toEqual({
    ...begun,
    input: 'Write them',
    model: expect.any(String),
    qualityGates: { selfTest: 'pending', qaReview: 'pending' },
  });
  expect(await readTask(organization, taskId)).toMatchObject({ status: 'in_progress', assignedAgent: agent });

  await model.asked(asked + 1);
  model.answer();
  const ended = await endOf(organization, agent, id);
  expect(ended).toEqual({
    ...begun,
    status: 'completed',
    completedAt: expect.stringMatching(isoTime),
    durationMs: Date.parse(ended.completedAt as string) - Date.parse(startedAt),
    input: 'Write them',
    output: 'It is done.',
    model: expect.any(String),
    // Three calls of twelve: the work and its two gates.
    tokensUsed: 36,
    qualityGates: { selfTest: 'passed', qaReview: 'passed' },
  });
  expect((await readTask(organization, taskId)).status).toBe('up_for_review');
  const { input: _, output: __, model: ___, qualityGates: ____, tokensUsed, ...listed } = ended;
  expect(dataOf<unknown>(await api.listAgentExecutions({ params: { name: agent } }))).toEqual([listed]);

  await attemptsOf(organization, webhook, 4);
  const delivered = receiver.received.map(({ body: { event, data } }) => ({ event, ...data }));
  const moved = { id: taskId, title: 'Notes', assignedAgent: agent };
  expect(delivered.sort((a, b) => (a.occurredAt + a.event < b.occurredAt + b.event ? -1 : 1))).toEqual([
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

it('the executions of a deleted agent end without an event, and its task and its places are free again', async () => {
  const organization = await newOrganization('with-a-deleted-agent');
  const { api } = organization;
  const receiver = await startReceiver();
  await register(organization, { url: receiver.url, events: ['agent.spawned', ...endings] });
  const [deleted, other] = [await createAgent(organization, 'deleted'), await createAgent(organization, 'other')];
  const taskId = await createTask(organization, 'Of a deleted agent');
  const asked = model.count();
  const ran = [
    await execute(organization, deleted, 'Do it', { taskId }),
    await execute(organization, deleted, 'Do it'),
  ];
  await model.asked(asked + 2);
  successOf(await api.deleteAgent({ params: { name: deleted } }));
  expect(paginationOf(await api.listExecutions()).total).toBe(0);
  expect(await countOf(organization, 'running')).toBe(0);
  expect((await api.getExecution({ params: { name: deleted, id: ran[0] as string } })).status).toBe(404);
  const statusOf = async () => (await readTask(organization, taskId)).status;
  await until('the task is assigned', async () => (await statusOf()) === 'assigned');

  // Both places are free again, and the model's responses to the deleted executions are dropped.
  const request = { params: { name: other }, body: { input: 'After them' } };
  const start = async () => dataOf<ExecutionStarted | undefined>(await api.executeAgent(request))?.executionId;
  const later = [await until('a place is free', start), await until('both are', start)] as string[];
  await model.asked(asked + 4);
  model.answer();
  for (const id of later) expect((await endOf(organization, other, id)).status).toBe('completed');
  await receiver.once('the ends of the later ones', () => later.every((id) => eventsAbout(receiver, id).length === 2));
  for (const id of ran) expect(eventsAbout(receiver, id)).toEqual(['agent.spawned']);
  expect(paginationOf(await api.listExecutions()).total).toBe(2);
  expect(await statusOf()).toBe('assigned');
});
