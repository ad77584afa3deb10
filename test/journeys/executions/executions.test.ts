import { expect, it } from 'vitest';
import { createApiOverHttp } from '../../api-over-http.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { startDeployment } from '../deployment.ts';
import {
  attemptsOf,
  createAgent,
  createTask,
  endings,
  endOf,
  execute,
  newToken,
  readTask,
  register,
} from '../requests.ts';
import { startHeldModel } from './held-model.ts';

const model = await startHeldModel();
const service = await startDeployment({ environment: model.environment });

it('an execution moves its task, and each step is delivered to a webhook', async () => {
  const organization = { api: createApiOverHttp(service.url, await newToken(service, 'with-a-webhook')) };
  const receiver = await startReceiver();
  const events = ['agent.spawned', ...endings, 'task.status_changed', 'task.completed'];
  const webhook = await register(organization, { url: receiver.url, events });
  const agent = await createAgent(organization, 'writer', { soul: 'Plain.', systemPrompt: 'Write notes.' });
  const taskId = await createTask(organization, 'Notes');
  const id = await execute(organization, agent, 'Write them', { taskId, context: { lines: 3 } });
  expect(await readTask(organization, taskId)).toMatchObject({ status: 'in_progress', assignedAgent: agent });

  await model.asked(1);
  model.answer();
  const { startedAt, completedAt, durationMs, ...ended } = await endOf(organization, agent, id);
  expect(ended).toMatchObject({
    ...{ id, agentName: agent, taskId, status: 'completed', input: 'Write them', output: 'It is done.' },
    // Three calls of twelve: the work and its two gates.
    tokensUsed: 36,
    qualityGates: { selfTest: 'passed', qaReview: 'passed' },
  });
  expect((await readTask(organization, taskId)).status).toBe('up_for_review');

  await attemptsOf(organization, webhook, 4);
  const delivered = receiver.received.map(({ body: { event, data } }) => ({ event, ...data }));
  const begun = { id, agentName: agent, taskId, startedAt };
  const moved = { id: taskId, title: 'Notes', assignedAgent: agent };
  const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(delivered.sort((a, b) => (a.occurredAt + a.event < b.occurredAt + b.event ? -1 : 1))).toEqual([
    { event: 'agent.spawned', execution: { ...begun, status: 'running' }, occurredAt: startedAt },
    {
      event: 'task.status_changed',
      task: { ...moved, previousStatus: 'backlog', status: 'in_progress' },
      sequence: 2,
      occurredAt: isoTime,
    },
    {
      event: 'agent.completed',
      execution: { ...begun, status: 'completed', completedAt, durationMs, tokensUsed: 36 },
      occurredAt: completedAt,
    },
    {
      event: 'task.status_changed',
      task: { ...moved, previousStatus: 'in_progress', status: 'up_for_review' },
      sequence: 3,
      occurredAt: completedAt,
    },
  ]);
});
