import { expect, it } from 'vitest';
import type { ExecutionStarted } from '../../lib/contract/executions.ts';
import { dataOf, successOf } from '../api.ts';
import { createApiOverHttp } from '../api-over-http.ts';
import { startDeployment } from './deployment.ts';
import { startHeldModel } from './held-model.ts';
import { startReceiver } from './receiver.ts';
import {
  attemptsOf,
  createAgent,
  createTask,
  endings,
  endOf,
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
    gateReasons: { selfTest: expect.stringContaining('PASS'), qaReview: expect.stringContaining('PASS') },
  });
  expect((await readTask(organization, taskId)).status).toBe('up_for_review');
  const { input: _, output: __, model: ___, qualityGates: ____, gateReasons, tokensUsed, ...listed } = ended;
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
