import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type {
  Delivery,
  DeliveryRecord,
  EventOfWebhook,
  SecretRotated,
  TestResult,
  Webhook,
  WebhookDetail,
} from '../../../lib/client/operations.ts';
import { verifyWebhook } from '../../../lib/client/verify-webhook.ts';
import type { RecoveryStarted } from '../../../lib/contract/webhooks/recoveries.ts';
import { startDeployment } from '../../journeys/deployment.ts';
import { attemptsOf, createTask, register } from '../../journeys/requests.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { blocksOf } from './receivers-page.ts';

const service = await startDeployment();
const receiver = await startReceiver();

/** Runs commands of a page in a shell, and returns the responses, one on each line. */
async function answersTo(commands: string, environment: Record<string, string>): Promise<string[]> {
  const { PATH = '' } = process.env;
  const script = `set -e; curl() { command curl "$@"; echo; }\n${commands}`;
  const env = { PATH, TOKEN: service.token, ...environment };
  const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-c', script], { env, timeout: 60_000 });
  expect(stderr).toBe('');
  return stdout.trim().split('\n');
}

const dataOf = <Data>(answer = '') => (JSON.parse(answer) as { data: Data }).data;

it('the commands for receivers register, test, list events and attempts, show one, recover, redeliver, rotate, change, pause and delete as written', async () => {
  const [
    register = '',
    sign = '',
    test = '',
    listen = '',
    trigger = '',
    events = '',
    lookBack = '',
    failures = '',
    lastHours = '',
    details = '',
    follow = '',
    recover = '',
    recovery = '',
    redeliver = '',
    rotate = '',
    change = '',
    remove = '',
    pause = '',
    resume = '',
    ...others
  ] = blocksOf('sh');
  expect(others).toEqual([]);
  const here = { BASE_URL: service.url };
  const own = register.replace('https://hooks.example.com/crewboard', receiver.url);
  const [registered, secret = ''] = await answersTo(`${own}\necho "$SECRET"`, here);
  const { id, url } = dataOf<Webhook>(registered);
  expect(url).toBe(receiver.url);

  const ofIt = { ...here, WEBHOOK_ID: id };
  const [tested] = await answersTo(test, ofIt);
  const { deliveryId, httpStatus } = dataOf<TestResult>(tested);
  expect(httpStatus).toBe(204);
  const [{ raw: body, headers } = expect.fail('no delivery arrived')] = receiver.received;
  expect((await verifyWebhook({ body, headers, secret })).deliveryId).toBe(deliveryId);

  expect(listen).toContain('crewboard -- listen --forward-to http://localhost:8080/hook\n');
  const triggered = trigger.replace('http://localhost:8080/hook', receiver.url);
  expect(await answersTo(triggered, { WEBHOOK_SECRET: secret })).toEqual([expect.stringContaining('✓ task.completed')]);
  const { raw: sample, headers: ofSample } = receiver.received.at(-1) ?? expect.fail('no sample arrived');
  expect((await verifyWebhook({ body: sample, headers: ofSample, secret })).event).toBe('task.completed');

  const [history] = await answersTo(lookBack, ofIt);
  expect(dataOf<DeliveryRecord[]>(history)).toMatchObject([{ deliveryId, event: 'task.created', httpStatus: 204 }]);
  expect(dataOf<DeliveryRecord[]>((await answersTo(failures, ofIt))[0])).toEqual([]);
  const { hours = [] } = dataOf<WebhookDetail>((await answersTo(lastHours, ofIt))[0]);
  expect(hours.reduce((sum, { status2xx }) => sum + status2xx, 0)).toBe(1);

  const down = { ...ofIt, DOWN_SINCE: new Date(Date.now() - 3_600_000).toISOString() };
  const [recovered] = await answersTo(recover, down);
  // Nothing was missed, so there is no recovery.
  expect(dataOf<RecoveryStarted>(recovered)).toMatchObject({ matched: 0 });
  const recoveryId = id.replace('wh_', 'rc_');
  const [progress = ''] = await answersTo(recovery, { ...ofIt, RECOVERY_ID: recoveryId });
  expect(JSON.parse(progress)).toMatchObject({
    error: { code: 'not_found', message: expect.stringContaining('recovery') },
  });

  await createTask(service, 'A task');
  const [delivered] = (await attemptsOf(service, id, 2)) as [DeliveryRecord];
  const [listed] = await answersTo(events, ofIt);
  const { deliveryId: ofTask } = delivered;
  expect(dataOf<EventOfWebhook[]>(listed)).toMatchObject([{ deliveryId: ofTask, state: 'delivered', attempts: 1 }]);
  const [followed] = await answersTo(follow, ofIt);
  expect(JSON.parse(followed as string)).toMatchObject({
    success: true,
    pagination: { limit: 100, next: expect.stringMatching(/^ev_/) },
  });

  const ofDelivery = { ...ofIt, DELIVERY_ID: delivered.deliveryId };
  const [detailed] = await answersTo(details, ofDelivery);
  const sent = receiver.received.find(({ body }) => body.deliveryId === delivered.deliveryId);
  expect(dataOf<Delivery>(detailed)).toMatchObject({ state: 'delivered', body: sent?.raw.toString('utf8') });
  const [redelivered] = await answersTo(redeliver, ofDelivery);
  expect(dataOf(redelivered)).toMatchObject({ deliveryId: delivered.deliveryId, state: 'pending' });
  expect(await answersTo(redeliver, ofDelivery)).toEqual([redelivered]);

  const [rotated, nextSecret = ''] = await answersTo(`${rotate}\necho "$NEW_SECRET"`, ofIt);
  expect(dataOf<SecretRotated>(rotated)).toMatchObject({ id, previousSecretEndsAt: expect.any(String) });
  await answersTo(test, ofIt);
  const { raw, headers: both } = receiver.received.at(-1) ?? expect.fail('no delivery arrived');
  for (const either of [secret, nextSecret])
    expect(await verifyWebhook({ body: raw, headers: both, secret: either })).toMatchObject({ event: 'task.created' });

  const [changed] = await answersTo(change, ofIt);
  const [subscribed, description] = [['task.created', 'task.completed'], 'Orders, production'];
  expect(dataOf<Webhook>(changed)).toMatchObject({ id, url, events: subscribed, description });

  expect(dataOf<Webhook>((await answersTo(pause, ofIt))[0])).toMatchObject({ id, active: false });
  expect(dataOf<Webhook>((await answersTo(resume, ofIt))[0])).toMatchObject({ id, active: true });

  expect(await answersTo(remove, ofIt)).toEqual(['{"success":true}']);
  expect((await service.api.getWebhook({ params: { id } })).status).toBe(404);

  const [digest] = await answersTo(sign, {});
  expect(digest).toMatch(/88a67f24bbcdaed0e6c997404bb79a743baf44c6bab2f4c27328e3009d22e342$/);
});

it('the commands of the runbook show a stuck webhook, its attempts and a test delivery', async () => {
  const [, section = ''] = readFileSync('docs/runbook.md', 'utf8').split('\n## A stuck webhook\n');
  const [, block = ''] = /^```sh\n(.*?)^```$/ms.exec(section) ?? [];
  const [asking = '', ...traces] = block.split(/^npm run --silent crewboard -- trace .*$/m);
  expect(traces).toHaveLength(1);
  const id = await register(service, { url: receiver.url, events: ['task.created'] });
  const answers = await answersTo(asking, { URL: service.url, WEBHOOK: id });
  const [webhook, history, tested] = answers;
  expect(answers).toHaveLength(3);
  expect(dataOf<Webhook>(webhook)).toMatchObject({ id, events: ['task.created'] });
  expect(dataOf<DeliveryRecord[]>(history)).toEqual([]);
  expect(dataOf<TestResult>(tested).httpStatus).toBe(204);
});
