import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetQueueAttributesCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { dataFiles } from '../../infra/local/data-folder.ts';
import { findRunning } from '../../infra/local/running.ts';
import { clientConfig, unsignedHeaders } from '../../lib/aws/client-config.ts';
import { environment as names } from '../../lib/deployment/environment.ts';
import { paginationOf } from '../api.ts';
import { sendRequest } from '../api-over-http.ts';
import { atEndOfFile } from '../end-of-file.ts';
import { type Deployment, run, startDeployment, until, untilNoneRunsOn } from './deployment.ts';
import { createTask, register } from './requests.ts';

/** Creates a folder that every user of the machine can enter. The folder of the test run is for its owner only. */
function newOpenFolder(): string {
  const folder = mkdtempSync('/tmp/crewboard-open-');
  chmodSync(folder, 0o755);
  atEndOfFile(async () => {
    await untilNoneRunsOn(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return folder;
}

/**
 * Runs JavaScript as a user without any rights. The process becomes this user after its start, because the user may be
 * unable to execute the Node.js of the tests.
 *
 * @returns what the code passes to `report`
 */
async function asOtherUser<Reported>(code: string): Promise<Reported> {
  const become = 'process.setgroups([]); process.setgid(65534); process.setuid(65534);';
  const report = 'const report = (value) => console.log(JSON.stringify(value));';
  const { stdout, stderr } = await run(['--input-type=module', '-e', `${become}${report}${code}`], {});
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Reported;
}

/** Tries to read files as another user; returns the paths of those that it could read. */
const readByOther = (paths: readonly string[]) =>
  asOtherUser<string[]>(`
    import { readFileSync } from 'node:fs';
    const canRead = (path) => { try { readFileSync(path); return true; } catch { return false; } };
    report(${JSON.stringify(paths)}.filter(canRead));`);

/** Returns the modes of a folder and of its files. A running service may have replaced a file meanwhile. */
function modesOf(folder: string): { folder: string; files: string[] } {
  const modeOf = (path: string) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats ? [(stats.mode & 0o777).toString(8)] : [];
  };
  const files = readdirSync(folder).flatMap((name) => modeOf(join(folder, name)));
  return { folder: modeOf(folder).join(), files: [...new Set(files)] };
}

/** Returns the queue of dead letters of a service, with a message in it, and what others may send to it. */
async function openQueue({ dataFolder }: Deployment) {
  const { environment } = await findRunning(dataFolder);
  const endpoint = environment[names.sqsEndpoint] as string;
  const QueueUrl = environment[names.deadLettersQueueUrl] as string;
  const sqs = new SQSClient(clientConfig(endpoint));
  atEndOfFile(() => sqs.destroy());
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'a dead letter' }));
  const target = (action: string) => ({ 'Content-Type': 'application/x-amz-json-1.0', 'X-Amz-Target': action });
  return {
    url: new URL(QueueUrl).origin,
    key: new URL(endpoint).username,
    requests: [
      { headers: target('AmazonSQS.SendMessage'), body: JSON.stringify({ QueueUrl, MessageBody: 'forged' }) },
      { headers: target('AmazonSQS.ReceiveMessage'), body: JSON.stringify({ QueueUrl }) },
    ],
    numbers: async () => {
      const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
      return Object.values((await sqs.send(command)).Attributes ?? {});
    },
  };
}

const isRoot = process.geteuid?.() === 0;

it.skipIf(!isRoot)('another user, whom only root can become, reaches neither the files nor the queues', async () => {
  const folder = newOpenFolder();
  const control = join(folder, 'for-all');
  writeFileSync(control, '');
  chmodSync(control, 0o644);
  const dataFolder = join(folder, 'data');
  const first = await startDeployment({ dataFolder });
  await register(first, { url: 'http://127.0.0.1:1/', events: ['task.created'], secret: 'a-secret-of-a-webhook' });
  await until('all its files exist', () =>
    [...Object.values(dataFiles), 'table.db-shm', 'table.db-wal'].every((name) => existsSync(join(dataFolder, name))),
  );
  expect(modesOf(dataFolder)).toEqual({ folder: '700', files: ['600'] });
  // A service that does not end cleanly leaves all its files.
  await first.stop('SIGKILL');
  await untilNoneRunsOn(dataFolder);
  for (const name of readdirSync(dataFolder)) chmodSync(join(dataFolder, name), 0o644);
  chmodSync(dataFolder, 0o755);
  const paths = () => [control, ...readdirSync(dataFolder).map((name) => join(dataFolder, name))];
  expect(await readByOther(paths())).toEqual(paths());

  const service = await startDeployment({ dataFolder });
  const task = await createTask(service, 'A task after the upgrade');
  expect((await service.api.getTask({ params: { id: task } })).status).toBe(200);
  expect(service.output()).not.toContain('Warning');
  expect(modesOf(dataFolder)).toEqual({ folder: '700', files: ['600'] });
  expect(await readByOther(paths())).toEqual([control]);

  const { url, requests, numbers } = await openQueue(service);
  const before = await numbers();
  const sent = requests.map(({ headers, body }) => ({ method: 'POST', headers, body }));
  const statuses = await asOtherUser<number[]>(`
    const send = (init) => fetch(${JSON.stringify(url)}, init).then((answer) => answer.status);
    report(await Promise.all(${JSON.stringify(sent)}.map(send)));`);
  expect(statuses).toEqual([403, 403]);
  expect(await numbers()).toEqual(before);
});

it('a page of another origin reaches neither the queues nor the API, by its own requests or by DNS rebinding', async () => {
  const service = await startDeployment();
  const { url, key, requests, numbers } = await openQueue(service);
  const before = await numbers();
  const port = new URL(url).port;
  const { port: apiPort } = new URL(service.url);
  // The page has guessed the port, and even has the key and the token.
  const pages: Record<string, string>[] = [{ Origin: 'http://page.example.com' }, { Host: `page.example.com:${port}` }];
  for (const page of pages)
    for (const { headers, body } of requests) {
      const all = { ...headers, ...unsignedHeaders(key), ...page };
      expect((await sendRequest(url, { method: 'POST', headers: all, body })).status).toBe(403);
    }
  expect(await numbers()).toEqual(before);

  const path = '/api/kanban-tasks';
  const rebound = { Host: `page.example.com:${apiPort}` };
  const request = { method: 'POST', path, body: { title: 'Forged' }, token: service.token, headers: rebound };
  expect((await sendRequest(service.url, request)).status).toBe(403);
  const preflight = { Origin: 'http://page.example.com', 'Access-Control-Request-Method': 'POST' };
  const { headers } = await sendRequest(service.url, { method: 'OPTIONS', path, headers: preflight });
  expect(Object.keys(headers).filter((name) => /^access-control/i.test(name))).toEqual([]);
  // Without a preflight, a page can send no token.
  const simple = { Origin: 'http://page.example.com', 'Content-Type': 'text/plain' };
  expect((await sendRequest(service.url, { method: 'POST', path, headers: simple, body: '{}' })).status).toBe(401);
  expect(paginationOf(await service.api.listTasks()).total).toBe(0);
});
