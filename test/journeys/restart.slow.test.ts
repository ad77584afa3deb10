import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { processesOn } from '../processes.ts';
import { startDeployment, untilNoneRunsOn } from './deployment.ts';
import { startReceiver } from './receiver.ts';
import { attemptsOf, createTask, moveTask, register } from './stories.ts';

it.each(['SIGINT', 'SIGTERM'] as const)('stops cleanly at %s and leaves no process behind', async (signal) => {
  const service = await startDeployment();
  expect(processesOn(service.dataFolder).length).toBeGreaterThan(0);
  const { code, stdout, stderr } = await service.stop(signal);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('Crewboard has stopped; its data is kept.');
  expect(processesOn(service.dataFolder)).toEqual([]);
});

it('goes on after a restart as if nothing had been: token, tasks, webhooks, deliveries, history', async () => {
  const receiver = await startReceiver();
  const before = await startDeployment();
  const webhook = { url: receiver.url, events: ['task.created', 'task.status_changed'], secret: 'kept' };
  const webhookId = await register(before, webhook);
  const taskId = await createTask(before, 'Before');
  await attemptsOf(before, webhookId, 1);
  const read = await before.api('GET', `/api/kanban-tasks/${taskId}`);
  expect((await before.stop()).code).toBe(0);

  const after = await startDeployment({ dataFolder: before.dataFolder });
  expect(after.token).toBe(before.token);
  const again = await after.api('GET', `/api/kanban-tasks/${taskId}`);
  expect([again.text, again.headers.get('etag')]).toEqual([read.text, read.headers.get('etag')]);
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
  const receiver = await startReceiver((_, response) => {
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

it('answers nobody any more once it is killed, and leaves no engine behind', async () => {
  const service = await startDeployment();
  const taskId = await createTask(service, 'Survives');
  expect((await service.stop('SIGKILL')).signal).toBe('SIGKILL');
  await untilNoneRunsOn(service.dataFolder);
  await expect(service.api('GET', '/health')).rejects.toThrow();
  expect(existsSync(`${service.dataFolder}/token`)).toBe(true);
  const again = await startDeployment({ dataFolder: service.dataFolder });
  expect((await again.api('GET', `/api/kanban-tasks/${taskId}`)).status).toBe(200);
});
