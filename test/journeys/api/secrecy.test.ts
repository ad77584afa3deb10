import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readTextIfAny } from '../../../infra/local/data-folder.ts';
import { successOf } from '../../api.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { startDeployment } from '../deployment.ts';
import { attemptsOf, createTask } from '../requests.ts';

const service = await startDeployment();
const { api } = service;

it('secrets, tokens and keys are in no response, no log line and no file but their own', async () => {
  const receiver = await startReceiver();
  const secret = 'plain-as-day-0123456789';
  const body = { url: receiver.url, events: ['task.created'], secret };
  const registered = await api.registerWebhook({ body });
  const { id } = successOf<{ id: string }>(registered);
  await createTask(service, 'A task');
  await attemptsOf(service, id, 1);
  const nextSecret = 'next-as-day-9876543210';
  const rotated = await api.rotateWebhookSecret({ params: { id }, body: { secret: nextSecret } });
  successOf(rotated);
  await createTask(service, 'A task after the rotation');
  await attemptsOf(service, id, 2);
  for (const answer of [registered, rotated, await api.getWebhook({ params: { id } }), await api.listWebhooks()])
    for (const each of [secret, nextSecret]) expect(JSON.stringify(answer)).not.toContain(each);
  expect(service.output()).toContain('POST /api/webhooks/register');
  expect(service.output()).toContain('/rotate-secret');
  for (const each of [secret, nextSecret]) expect(service.output()).not.toContain(each);
  expect(service.output()).not.toContain(service.token);
  // The service still writes: a file that it replaces may be gone when it is read.
  const containing = (text: string) =>
    readdirSync(service.dataFolder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      .filter((name) => readTextIfAny(join(service.dataFolder, name))?.includes(text));
  for (const each of [secret, nextSecret]) {
    expect(containing(each)).toEqual([]);
    expect(containing(Buffer.from(each).toString('base64').slice(0, 28))).toEqual([]);
  }
  expect(containing(service.token)).toEqual(['token']);
});
