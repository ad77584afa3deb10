import { expect, it } from 'vitest';
import { startDeployment } from './deployment.ts';
import { startReceiver } from './receiver.ts';
import { attemptsOf, createTask, newToken, register } from './stories.ts';

const service = await startDeployment();
const events = ['task.created'];

it('records the first attempt at a receiver that answers 500', async () => {
  const receiver = await startReceiver((_, response) => response.writeHead(500).end('oh no'));
  const id = await register(service, { url: receiver.url, events });
  await createTask(service, 'Fails');
  const attempts = await attemptsOf(service, id, 1);
  expect(attempts).toMatchObject([
    { attempt: 1, httpStatus: 500, redelivery: false, error: 'The receiver answered 500.' },
  ]);
  expect(receiver.received).toHaveLength(1);
});

it('follows no redirect, and records it as a failure with its status', async () => {
  const elsewhere = await startReceiver();
  const receiver = await startReceiver((_, response) => response.writeHead(307, { Location: elsewhere.url }).end());
  const id = await register(service, { url: receiver.url, events });
  await createTask(service, 'Redirected');
  const attempts = await attemptsOf(service, id, 1);
  expect(attempts).toMatchObject([{ httpStatus: 307, error: 'The receiver answered 307.' }]);
  expect(elsewhere.received).toEqual([]);
});

it('records a refused connection with status 0', async () => {
  const receiver = await startReceiver();
  await receiver.close();
  const id = await register(service, { url: receiver.url, events });
  await createTask(service, 'Refused');
  const attempts = await attemptsOf(service, id, 1);
  expect(attempts).toMatchObject([{ httpStatus: 0, error: 'The receiver refused the connection.' }]);
  const webhook = await service.api('GET', `/api/webhooks/${id}`);
  expect(webhook.body.data.lastDeliveryAt).toBe(attempts[0]?.deliveredAt);
});

it('records a connection that breaks before an answer with status 0', async () => {
  const receiver = await startReceiver((_, response) => response.destroy());
  const id = await register(service, { url: receiver.url, events });
  await createTask(service, 'Broken off');
  const [attempt] = await attemptsOf(service, id, 1);
  expect(attempt).toMatchObject({ httpStatus: 0, error: expect.stringMatching(/^The connection failed/) });
});

it('repeats no delivery before its time while later ones go through', async () => {
  const token = await newToken(service, 'stubborn');
  const receiver = await startReceiver((_, response) => response.writeHead(503).end());
  const id = await register(service, { url: receiver.url, events }, token);
  for (const title of ['One', 'Two', 'Three']) await createTask(service, title, token);
  await attemptsOf({ api: (method, path) => service.api(method, path, { token }) }, id, 3);
  expect(receiver.received.map(({ body }) => body.data.task.title).sort()).toEqual(['One', 'Three', 'Two']);
});

it('delivers to others while a receiver hangs', async () => {
  const token = await newToken(service, 'patient');
  const [hanging, prompt] = [await startReceiver(() => {}), await startReceiver()];
  await register(service, { url: hanging.url, events }, token);
  await register(service, { url: prompt.url, events }, token);
  await createTask(service, 'First', token);
  await hanging.next(1);
  await createTask(service, 'Second', token);
  await prompt.next(2, 5_000);
});
