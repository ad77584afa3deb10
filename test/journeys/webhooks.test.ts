import { createHmac } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readText } from '../../infra/local/data-folder.ts';
import { startDeployment } from './deployment.ts';
import { startReceiver } from './receiver.ts';
import { attemptsOf, createTask, moveTask, newToken, register } from './stories.ts';

const service = await startDeployment();
const everyTaskEvent = ['task.created', 'task.status_changed', 'task.completed'];
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

it('tells a receiver of a new task, signed over the very bytes that it gets', async () => {
  const receiver = await startReceiver();
  const secret = 'a secret with ünïcode';
  await register(service, { url: `${receiver.url}/hooks?x=1`, events: ['task.created'], secret });
  const id = await createTask(service, 'Grüße 👋');
  const [got] = await receiver.next(1);
  const hmac = createHmac('sha256', secret)
    .update(got?.raw as Buffer)
    .digest('hex');
  expect(got?.path).toBe('/hooks?x=1');
  expect(got?.headers).toMatchObject({
    'content-type': 'application/json',
    'x-service-signature': `sha256=${hmac}`,
    'x-service-event': 'task.created',
    'x-service-delivery': got?.body.deliveryId,
    'x-service-timestamp': String(Math.floor(Date.parse(got?.body.timestamp as string) / 1000)),
  });
  expect(Math.abs(Date.now() - Date.parse(got?.body.timestamp as string))).toBeLessThan(20_000);
  expect(got?.body).toEqual({
    event: 'task.created',
    deliveryId: expect.stringMatching(/^dlv_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
    timestamp: expect.stringMatching(isoTime),
    data: { task: { id, title: 'Grüße 👋', status: 'backlog' }, occurredAt: expect.stringMatching(isoTime) },
  });
});

it('tells of a move to done by task.status_changed and task.completed, and of no other change', async () => {
  const receiver = await startReceiver();
  const webhook = await register(service, { url: receiver.url, events: everyTaskEvent });
  const body = { title: 'Story', assignedAgent: 'qa-reviewer', projectId: 'proj_one' };
  const { id } = (await service.api('POST', '/api/kanban-tasks', { body })).body.data as { id: string };
  await service.api('PATCH', `/api/kanban-tasks/${id}`, { body: { title: 'Told', status: 'backlog' } });
  await moveTask(service, id, 'in_progress');
  await moveTask(service, id, 'done');
  await receiver.next(4);
  await attemptsOf(service, webhook, 4);
  const task = { id, title: 'Told', assignedAgent: 'qa-reviewer', projectId: 'proj_one' };
  const told = receiver.received.map(({ body }) => ({ event: body.event, task: body.data.task }));
  expect(told).toHaveLength(4);
  expect(told).toEqual(
    expect.arrayContaining([
      { event: 'task.created', task: { ...task, title: 'Story', status: 'backlog' } },
      { event: 'task.status_changed', task: { ...task, previousStatus: 'backlog', status: 'in_progress' } },
      { event: 'task.status_changed', task: { ...task, previousStatus: 'in_progress', status: 'done' } },
      { event: 'task.completed', task: { ...task, status: 'done' } },
    ]),
  );
  expect(new Set(receiver.received.map(({ body }) => body.deliveryId)).size).toBe(4);
});

it('signs nothing where no secret was given', async () => {
  const receiver = await startReceiver();
  await register(service, { url: receiver.url, events: ['task.created'] });
  await createTask(service, 'Unsigned');
  const [got] = await receiver.next(1);
  expect(Object.keys(got?.headers ?? {}).filter((name) => /signature/.test(name))).toEqual([]);
});

it('tells a webhook of nothing that it is not subscribed to', async () => {
  const receiver = await startReceiver();
  const webhook = await register(service, { url: receiver.url, events: ['task.completed'] });
  const id = await createTask(service, 'Quiet');
  await moveTask(service, id, 'assigned');
  await moveTask(service, id, 'done');
  await attemptsOf(service, webhook, 1);
  expect(receiver.received.map(({ body }) => body.event)).toEqual(['task.completed']);
});

it('keeps organizations apart: tasks, webhooks and what they are told', async () => {
  const [ours, theirs] = [await startReceiver(), await startReceiver()];
  const other = await newToken(service, 'neighbours');
  const ourWebhook = await register(service, { url: ours.url, events: ['task.created'] });
  const theirWebhook = await register(service, { url: theirs.url, events: ['task.created'] }, other);
  const ourTask = await createTask(service, 'Ours');
  await attemptsOf(service, ourWebhook, 1);
  const theirTask = await createTask(service, 'Theirs', other);
  await theirs.next(1);
  expect(theirs.received.map(({ body }) => body.data.task.id)).toEqual([theirTask]);
  expect(ours.received.map(({ body }) => body.data.task.id)).toEqual([ourTask]);
  for (const path of [
    `/api/kanban-tasks/${theirTask}`,
    `/api/webhooks/${theirWebhook}`,
    `/api/webhooks/${theirWebhook}/deliveries`,
  ])
    expect((await service.api('GET', path)).status).toBe(404);
  const list = await service.api<{ title: string }[]>('GET', '/api/kanban-tasks', { token: other });
  expect(list.body.data.map(({ title }) => title)).toEqual(['Theirs']);
});

it('lists the attempts once they are made, and when the last one was', async () => {
  const receiver = await startReceiver();
  const id = await register(service, { url: receiver.url, events: ['task.created'] });
  const before = await service.api('GET', `/api/webhooks/${id}`);
  expect(before.body.data).not.toHaveProperty('lastDeliveryAt');
  await createTask(service, 'One');
  await attemptsOf(service, id, 1);
  await createTask(service, 'Two');
  const attempts = await attemptsOf(service, id, 2);
  expect(attempts.map(({ deliveryId }) => deliveryId)).toEqual(
    receiver.received.map(({ body }) => body.deliveryId).reverse(),
  );
  for (const attempt of attempts)
    expect(attempt).toEqual({
      id: attempt.deliveryId,
      deliveryId: expect.stringMatching(/^dlv_/),
      attempt: 1,
      event: 'task.created',
      httpStatus: 204,
      durationMs: expect.any(Number),
      deliveredAt: expect.stringMatching(isoTime),
      redelivery: false,
    });
  const after = await service.api('GET', `/api/webhooks/${id}`);
  expect(after.body.data.lastDeliveryAt).toBe(attempts[0]?.deliveredAt);
});

it('sends a test delivery when it is asked for one, and lists it', async () => {
  const receiver = await startReceiver((_, response) => response.writeHead(200).end('got it'));
  const secret = 'a secret of the two';
  const id = await register(service, { url: receiver.url, events: ['task.completed'], secret });
  const path = `/api/webhooks/${id}/test`;
  const answer = await service.api('POST', path, { body: { event: 'agent.failed' } });
  const { deliveryId } = answer.body.data;
  const result = { deliveryId, httpStatus: 200, responseBody: 'got it', durationMs: expect.any(Number) };
  expect([answer.status, answer.body.data]).toEqual([200, result]);
  const [got] = await receiver.next(1);
  const hmac = createHmac('sha256', secret)
    .update(got?.raw as Buffer)
    .digest('hex');
  expect(got?.headers).toMatchObject({
    'x-service-signature': `sha256=${hmac}`,
    'x-service-event': 'agent.failed',
    'x-service-delivery': deliveryId,
  });
  expect(await attemptsOf(service, id, 1)).toMatchObject([{ id: deliveryId, event: 'agent.failed', httpStatus: 200 }]);
});

it('sends nothing more to a webhook that was deleted', async () => {
  const [gone, stays] = [await startReceiver(), await startReceiver()];
  const id = await register(service, { url: gone.url, events: ['task.created'] });
  const other = await register(service, { url: stays.url, events: ['task.created'] });
  expect((await service.api('DELETE', `/api/webhooks/${id}`)).text).toBe('{"success":true}');
  await createTask(service, 'After');
  await attemptsOf(service, other, 1);
  expect(gone.received).toEqual([]);
});

it('shows a secret and a token to nobody: no answer, no log line, no file but the token’s own', async () => {
  const receiver = await startReceiver();
  const secret = 'plain-as-day-0123456789';
  const body = { url: receiver.url, events: ['task.created'], secret };
  const registered = await service.api('POST', '/api/webhooks/register', { body });
  const id = registered.body.data.id as string;
  await createTask(service, 'Hush');
  await attemptsOf(service, id, 1);
  const replies = [
    registered,
    await service.api('GET', `/api/webhooks/${id}`),
    await service.api('GET', '/api/webhooks'),
  ];
  for (const { text } of replies) expect(text).not.toContain(secret);
  expect(service.output()).toContain('POST /api/webhooks/register');
  expect(service.output()).not.toContain(secret);
  expect(service.output().split(service.token)).toHaveLength(2);
  // The service still writes: a file that it replaces may be gone by the time that it is read.
  const holding = (text: string) =>
    readdirSync(service.dataFolder).filter((name) => readText(join(service.dataFolder, name))?.includes(text));
  expect(holding(secret)).toEqual([]);
  expect(holding(Buffer.from(secret).toString('base64').slice(0, 28))).toEqual([]);
  expect(holding(service.token)).toEqual(['token']);
});
