import { createHmac } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readText } from '../../infra/local/data-folder.ts';
import { successOf } from '../api.ts';
import { startDeployment } from './deployment.ts';
import { startReceiver } from './receiver.ts';
import { attemptsOf, createTask, register } from './requests.ts';

const service = await startDeployment();
const { api } = service;
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

it('delivers the event of a new task, signed over the bytes of its body', async () => {
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

it('secrets and tokens are in no response, no log line and no file but that of the first token', async () => {
  const receiver = await startReceiver();
  const secret = 'plain-as-day-0123456789';
  const body = { url: receiver.url, events: ['task.created'], secret };
  const registered = await api.registerWebhook({ body });
  const { id } = successOf<{ id: string }>(registered);
  await createTask(service, 'A task');
  await attemptsOf(service, id, 1);
  for (const answer of [registered, await api.getWebhook({ params: { id } }), await api.listWebhooks()])
    expect(JSON.stringify(answer)).not.toContain(secret);
  expect(service.output()).toContain('POST /api/webhooks/register');
  expect(service.output()).not.toContain(secret);
  expect(service.output().split(service.token)).toHaveLength(2);
  // The service still writes: a file that it replaces may be gone when it is read.
  const containing = (text: string) =>
    readdirSync(service.dataFolder).filter((name) => readText(join(service.dataFolder, name))?.includes(text));
  expect(containing(secret)).toEqual([]);
  expect(containing(Buffer.from(secret).toString('base64').slice(0, 28))).toEqual([]);
  expect(containing(service.token)).toEqual(['token']);
});
