import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { dataFiles } from '../../infra/local/data-folder.ts';
import { findRunning } from '../../infra/local/running.ts';
import { paginationOf } from '../api.ts';
import { sendRequest } from '../api-over-http.ts';
import { atEndOfFile } from '../end-of-file.ts';
import { listeningAddressesOf, processTreeOf } from '../processes/processes.ts';
import { type Deployment, run, startDeployment } from './deployment.ts';
import { createTask, newToken, register } from './requests.ts';

/** Creates a folder that every user of the machine can enter. The folder of the test run is for its owner only. */
function newOpenFolder(): string {
  const folder = mkdtempSync('/tmp/crewboard-open-');
  chmodSync(folder, 0o755);
  atEndOfFile(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
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

/** Tries to read files as another user; returns the paths of the files that it could read. */
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

/**
 * Returns the addresses for commands of a service, and of one whose data folder has a long path. Each accepts commands of the
 * user of the tests.
 */
async function socketsOf(service: Deployment): Promise<string[]> {
  const long = await startDeployment({ dataFolder: join(newOpenFolder(), 'x'.repeat(100)) });
  const services = [service, long];
  for (const one of services) await newToken(one, 'reachable');
  return Promise.all(services.map(async ({ dataFolder }) => (await findRunning(dataFolder)).commands as string));
}

const isRoot = process.geteuid?.() === 0;

it.skipIf(!isRoot)('another user, whom only root can become, reaches neither the files nor the commands', async () => {
  const folder = newOpenFolder();
  const control = join(folder, 'for-all');
  writeFileSync(control, '');
  chmodSync(control, 0o644);
  const dataFolder = join(folder, 'data');
  const first = await startDeployment({ dataFolder });
  await register(first, { url: 'http://127.0.0.1:1/', events: ['task.created'], secret: 'a-secret-of-a-webhook' });
  const table = dataFiles.table;
  const own = ['addresses', 'commands', 'lock', 'secretsKey', 'table', 'token'] as const;
  for (const name of [...own.map((one) => dataFiles[one]), `${table}-shm`, `${table}-wal`])
    expect(existsSync(join(dataFolder, name))).toBe(true);
  expect(modesOf(dataFolder)).toEqual({ folder: '700', files: ['600'] });
  // A service that does not end cleanly leaves all its files, and an earlier version has left others.
  await first.stop('SIGKILL');
  for (const name of [dataFiles.formerEngineLog, dataFiles.formerTableKept, dataFiles.positions])
    writeFileSync(join(dataFolder, name), 'former');
  for (const name of readdirSync(dataFolder)) chmodSync(join(dataFolder, name), 0o644);
  chmodSync(dataFolder, 0o755);
  const paths = () => {
    // A socket is no file that anyone can read.
    const names = readdirSync(dataFolder).filter((name) => name !== dataFiles.commands);
    return [control, ...names.map((name) => join(dataFolder, name))];
  };
  expect(await readByOther(paths())).toEqual(paths());

  const service = await startDeployment({ dataFolder });
  const task = await createTask(service, 'A task after the upgrade');
  expect((await service.api.getTask({ params: { id: task } })).status).toBe(200);
  expect(service.output()).not.toContain('Warning');
  expect(modesOf(dataFolder)).toEqual({ folder: '700', files: ['600'] });
  expect(await readByOther(paths())).toEqual([control]);

  const reached = await asOtherUser<string[]>(`
    import { connect } from 'node:net';
    const reach = (path) => new Promise((resolve) => {
      const socket = connect(path, () => resolve('connected'));
      socket.on('error', (error) => resolve(error.code));
    });
    report(await Promise.all(${JSON.stringify(await socketsOf(service))}.map(reach)));`);
  expect(reached).toEqual(['EACCES', 'EACCES']);
});

it('the only port of the service and its processes is that of the API, which gives strangers nothing', async () => {
  const service = await startDeployment();
  await register(service, { url: 'http://127.0.0.1:1/', events: ['task.created'] });
  await createTask(service, 'Not for strangers');
  await newToken(service, 'guests');
  const port = Number(new URL(service.url).port);
  const address = `tcp 0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  expect(listeningAddressesOf(processTreeOf(service.pid))).toEqual([address]);
  // What the port of a DynamoDB engine would answer to everyone.
  const scan = {
    method: 'POST',
    path: '/',
    body: { TableName: 'crewboard' },
    headers: { 'X-Amz-Target': 'DynamoDB_20120810.Scan', Authorization: 'AWS4-HMAC-SHA256 Credential=local/' },
  };
  expect((await sendRequest(service.url, scan)).status).toBe(405);
  for (const path of ['/api/kanban-tasks', '/api/webhooks', '/api/me'])
    expect((await sendRequest(service.url, { method: 'GET', path })).status).toBe(401);
});

it('a page of another origin does not reach the API, by its own requests or by DNS rebinding', async () => {
  const service = await startDeployment();
  const { port: apiPort } = new URL(service.url);
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
