import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import type { DeliveryRecord, TestResult, Webhook } from '../../lib/client/operations.ts';
import { verifyWebhook } from '../../lib/client/verify-webhook.ts';
import { startDeployment } from '../journeys/deployment.ts';
import { startReceiver } from '../journeys/receiver.ts';
import { register } from '../journeys/requests.ts';
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

it('the commands for receivers register, test, list attempts and delete as written', async () => {
  const [register = '', sign = '', test = '', lookBack = '', remove = '', ...others] = blocksOf('sh');
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
  expect(verifyWebhook({ body, headers, secret }).deliveryId).toBe(deliveryId);

  const [history] = await answersTo(lookBack, ofIt);
  expect(dataOf<DeliveryRecord[]>(history)).toMatchObject([{ deliveryId, event: 'task.created', httpStatus: 204 }]);
  expect(await answersTo(remove, ofIt)).toEqual(['{"success":true}']);
  expect((await service.api.getWebhook({ params: { id } })).status).toBe(404);

  const [digest] = await answersTo(sign, {});
  expect(digest).toMatch(/88a67f24bbcdaed0e6c997404bb79a743baf44c6bab2f4c27328e3009d22e342$/);
});

it('the commands of the runbook show a stuck webhook, its attempts and a test delivery', async () => {
  const [, section = ''] = readFileSync('docs/runbook.md', 'utf8').split('\n## A stuck webhook\n');
  const [, block = ''] = /^```sh\n(.*?)^```$/ms.exec(section) ?? [];
  const [asking = '', ...traces] = block.split(/^npm run --silent trace .*$/m);
  expect(traces).toHaveLength(1);
  const id = await register(service, { url: receiver.url, events: ['task.created'] });
  const answers = await answersTo(asking, { URL: service.url, WEBHOOK: id });
  const [webhook, history, tested] = answers;
  expect(answers).toHaveLength(3);
  expect(dataOf<Webhook>(webhook)).toMatchObject({ id, events: ['task.created'] });
  expect(dataOf<DeliveryRecord[]>(history)).toEqual([]);
  expect(dataOf<TestResult>(tested).httpStatus).toBe(204);
});
