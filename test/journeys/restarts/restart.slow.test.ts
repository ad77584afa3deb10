import { expect, it } from 'vitest';
import { processTreeOf } from '../../processes/processes.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { type Deployment, startDeployment } from '../deployment.ts';
import { startHeldModel } from '../executions/held-model.ts';
import {
  attemptsOf,
  createAgent,
  createTask,
  endings,
  endOf,
  eventsAbout,
  execute,
  moveTask,
  register,
} from '../requests.ts';

/** The lease of a worker that has ended, and the time of a new start, in milliseconds. */
const resumedWithinMs = 60_000;

/** Stops the service by a signal, and checks that it ends cleanly. */
async function expectCleanStop(service: Deployment, signal: NodeJS.Signals): Promise<void> {
  const processes = processTreeOf(service.pid);
  const { code, stdout, stderr } = await service.stop(signal);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('Crewboard has stopped; its data is kept.');
  expect(processes.flatMap(processTreeOf)).toEqual([]);
}

it.each(['SIGINT', 'SIGTERM'] as const)('stops cleanly at %s and leaves no process behind', async (signal) => {
  await expectCleanStop(await startDeployment(), signal);
});

it('keeps the token, tasks, webhooks, deliveries and the history over a restart', async () => {
  const receiver = await startReceiver();
  const before = await startDeployment();
  const webhook = { url: receiver.url, events: ['task.created', 'task.status_changed'], secret: 'kept' };
  const webhookId = await register(before, webhook);
  const taskId = await createTask(before, 'Before');
  await attemptsOf(before, webhookId, 1);
  const read = await before.api.getTask({ params: { id: taskId } });
  expect((await before.stop()).code).toBe(0);

  const after = await startDeployment({ dataFolder: before.dataFolder });
  expect(after.token).toBe(before.token);
  const again = await after.api.getTask({ params: { id: taskId } });
  expect([again.body, again.headers.ETag]).toEqual([read.body, read.headers.ETag]);
  expect((await attemptsOf(after, webhookId, 1)).map(({ httpStatus }) => httpStatus)).toEqual([204]);

  await moveTask(after, taskId, 'done');
  const [created, moved] = await receiver.next(2);
  expect([created?.body.event, moved?.body.event]).toEqual(['task.created', 'task.status_changed']);
  expect(moved?.headers['x-service-signature']).toMatch(/^sha256=[0-9a-f]{64}$/);
  await attemptsOf(after, webhookId, 2);
  await after.stop();
  expect(receiver.received).toHaveLength(2);
});

it('lets an attempt that is under way end before it stops', async () => {
  let answer = () => {};
  const receiver = await startReceiver((response) => {
    answer = () => response.writeHead(204).end();
  });
  const before = await startDeployment();
  const webhookId = await register(before, { url: receiver.url, events: ['task.created'] });
  await createTask(before, 'In flight');
  await receiver.next(1);
  const stopping = before.stop();
  answer();
  expect((await stopping).code).toBe(0);
  const after = await startDeployment({ dataFolder: before.dataFolder });
  expect(await attemptsOf(after, webhookId, 1)).toMatchObject([{ attempt: 1, httpStatus: 204 }]);
  expect(receiver.received).toHaveLength(1);
});

it('stops at SIGINT within 20 s while an execution takes minutes, and resumes it after the next start', async () => {
  const model = await startHeldModel();
  const receiver = await startReceiver();
  const before = await startDeployment({ environment: model.environment });
  await register(before, { url: receiver.url, events: ['agent.spawned', ...endings] });
  const agent = await createAgent(before, 'resumed');
  const id = await execute(before, agent, 'Take your time');
  await model.asked(1);
  const stoppingAt = Date.now();
  await expectCleanStop(before, 'SIGINT');
  expect(Date.now() - stoppingAt).toBeLessThan(20_000);
  const after = await startDeployment({ dataFolder: before.dataFolder, environment: model.environment });
  await model.asked(2, resumedWithinMs);
  model.answer();
  expect(await endOf(after, agent, id)).toMatchObject({ status: 'completed', output: 'It is done.' });
  await receiver.once('its end', () => eventsAbout(receiver, id).length >= 2);
  expect(eventsAbout(receiver, id)).toEqual(['agent.completed', 'agent.spawned']);
});
