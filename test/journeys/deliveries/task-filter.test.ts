import { expect, it } from 'vitest';
import { successOf } from '../../api.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { startDeployment } from '../deployment.ts';
import { attemptsOf, createAgent, endings, endOf, execute, moveTask } from '../requests.ts';

const service = await startDeployment();
const { api } = service;

/** Registers a webhook for all events of tasks and executions, and returns its receiver and its id. */
async function registerReceiver(more: object = {}) {
  const receiver = await startReceiver();
  const events = ['task.created', 'task.status_changed', 'task.completed', 'agent.spawned', ...endings];
  const answer = await api.registerWebhook({ body: { url: receiver.url, events, ...more } });
  return { receiver, id: successOf<{ id: string }>(answer).id };
}

it('a webhook with a filter receives the events of matching tasks and of executions on them, and no others', async () => {
  const [projectId, agent] = ['proj_website', await createAgent(service, 'writer')];
  const all = await registerReceiver();
  const filtered = await registerReceiver({ taskFilter: { projectId } });
  const edited = await registerReceiver();
  successOf(await api.updateWebhook({ params: { id: edited.id }, body: { taskFilter: { assignedAgent: 'reader' } } }));

  for (const project of [projectId, 'proj_shop', undefined]) {
    const body = { title: `Of ${project}`, ...(project && { projectId: project }) };
    const { id: taskId } = successOf<{ id: string }>(await api.createTask({ body }));
    await endOf(service, agent, await execute(service, agent, 'Write it', { taskId }));
    await moveTask(service, taskId, 'done');
  }
  await endOf(service, agent, await execute(service, agent, 'Write nothing in particular'));

  // Each task is created, moved three times and completed, and each execution starts and ends.
  await attemptsOf(service, all.id, 3 * 5 + 4 * 2);
  await attemptsOf(service, filtered.id, 5 + 2);
  const namesOf = ({ receiver }: typeof all) => receiver.received.map(({ body }) => body.event as string).sort();
  expect(namesOf(filtered)).toEqual([
    ...['agent.completed', 'agent.spawned', 'task.completed', 'task.created'],
    ...Array(3).fill('task.status_changed'),
  ]);
  expect(namesOf(edited)).toEqual([]);
});
