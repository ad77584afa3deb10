import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { statusAndCodeOf } from '../../api.ts';
import { launch, newFolder, run, start, startDeployment, until } from '../../journeys/deployment.ts';
import { processTreeOf } from '../../processes/processes.ts';
import { freePort } from '../../servers/free-port.ts';

/** Starts the service, which must fail, and returns its standard error. */
async function startError(environment: Record<string, string>, nodeOptions: string[] = []): Promise<string> {
  const { ended } = launch({ dataFolder: newFolder(), environment, nodeOptions });
  const { code, stdout, stderr } = await ended;
  expect(code).toBe(1);
  expect(stdout).not.toContain('ready');
  return stderr;
}

/** Returns a pattern of one sentence on one line, without a stack trace or a class name. */
function sentence(text: string): RegExp {
  return new RegExp(`^Crewboard cannot \\w+: [^\\n]*${text}[^\\n]*\\.\\n$`);
}

it.concurrent('prints its URL and where its token is', async () => {
  const service = await startDeployment();
  expect(service.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  const file = join(service.dataFolder, 'token');
  expect(service.output()).toContain(`\nYour token is in ${file}\n`);
  expect(readFileSync(file, 'utf8')).toMatch(/^crew_[0-9A-Za-z]{50}\n$/);
});

it.concurrent('rejects other arguments than the port, which would have no effect', async () => {
  const dataFolder = newFolder();
  const { code, stderr } = await run(['infra/main.ts', '--host', '0.0.0.0'], {
    CREWBOARD_DATA: dataFolder,
    PORT: '0',
  });
  expect([code, readdirSync(dataFolder)]).toEqual([1, []]);
  expect(stderr).toMatch(sentence('"--host 0.0.0.0" has no effect; there is only --port, and environment variables'));
});

it.concurrent('prints its address and where its token is before the lines of its log, and never the token', async () => {
  const port = await freePort();
  const dataFolder = newFolder();
  // Schedules write their lines during the start.
  const started = start(['infra/main.ts', '--port', String(port)], { CREWBOARD_DATA: dataFolder, PORT: '1' });
  await until('the log has a line', () => started.output.stdout.includes('{"level":'));
  const { stdout } = started.output;
  const file = join(dataFolder, 'token');
  expect(stdout).toMatch(
    new RegExp(`^\\nCrewboard is at http://127\\.0\\.0\\.1:${port}\\nYour token is in ${file}\\n`),
  );
  expect(stdout.slice(stdout.indexOf('{"level":'))).toMatch(/^(\{.*\}\n)+/);
  expect(stdout).not.toContain(readFileSync(file, 'utf8').trim());
  started.child.kill('SIGINT');
  expect((await started.ended).code).toBe(0);
});

it.concurrent('says first that its port is in use', async () => {
  const service = await startDeployment();
  const { port } = new URL(service.url);
  const { code, stderr } = await launch({ environment: { PORT: port } }).ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(sentence(`Port ${port} is in use; stop the other program, or set PORT`));
});

it.concurrent('reports that another service runs on its data folder, and does not disturb it', async () => {
  const service = await startDeployment();
  const error = await startError({ CREWBOARD_DATA: service.dataFolder });
  expect(error).toMatch(sentence('nother Crewboard, or one of its commands, is running on the data folder'));
  expect((await service.api.listTasks()).status).toBe(200);
});

const dataFolder = newFolder();
const script = join(newFolder(), 'script.json');
writeFileSync(join(dataFolder, 'crewboard.db'), 'not a database '.repeat(100));
writeFileSync(script, '[{"match":"tea"}]');

it.concurrent.each([
  [{ CREWBOARD_DATA: '/dev/null/x' }, 'he data folder /dev/null/x cannot'],
  [{ CREWBOARD_DATA: dataFolder }, 'crewboard.db is damaged'],
  [{ DURABILITY: 'none' }, 'DURABILITY is "none"; set it to full or normal'],
  [{ DYNAMODB_ENDPOINT: 'localhost' }, 'DYNAMODB_ENDPOINT'],
  [{ ALLOWED_RECEIVERS: 'localhost' }, 'ALLOWED_RECEIVERS'],
  [{ MODEL_SCRIPT: script }, 'rule 1 must have exactly one of text, throttle'],
])('reports the invalid setting %o', async (environment, text) => {
  expect(await startError(environment)).toMatch(sentence(text));
});

it.concurrent('limits the concurrent executions of an organization to RUNNING_CAP', async () => {
  // The model answers long after the test has ended.
  const service = await startDeployment({ environment: { RUNNING_CAP: '1', MODEL_LATENCY_MS: '60000' } });
  const execute = () => service.api.executeAgent({ params: { name: 'prompt-improver' }, body: { input: 'Improve.' } });
  expect((await execute()).status).toBe(200);
  const refused = await execute();
  expect(statusAndCodeOf(refused)).toEqual([429, 'rate_limited']);
  expect(refused.headers['Retry-After']).toBe('10');
  await service.stop('SIGKILL');
});

it.concurrent('prints the model of agents, and never its key', async () => {
  const service = await startDeployment();
  expect(service.output()).toContain('\nAgents use the built-in simulator (set MODEL_BASE_URL');
  const environment = { MODEL_BASE_URL: 'http://127.0.0.1:1/v1', MODEL_NAME: 'llama', MODEL_API_KEY: 'sk-secret' };
  const named = await startDeployment({ environment });
  expect(named.output()).toContain('\nAgents use llama at http://127.0.0.1:1/v1.\n');
  const { stdout, stderr } = await named.stop();
  expect(stdout + stderr).not.toContain('sk-secret');
});

it.concurrent('leaves no process running when it is interrupted during its start', async () => {
  const { child, ended, dataFolder } = launch();
  await until('the table is created', () => existsSync(join(dataFolder, 'crewboard.db')));
  const processes = processTreeOf(child.pid as number);
  child.kill('SIGINT');
  expect((await ended).stdout).not.toContain('ready');
  expect(processes.flatMap(processTreeOf)).toEqual([]);
});

it.concurrent('creates a token if the stored one is invalid; the old token stays valid', async () => {
  const first = await startDeployment();
  await first.stop();
  writeFileSync(join(first.dataFolder, 'token'), 'rubbish\n');
  const second = await startDeployment({ dataFolder: first.dataFolder });
  expect(second.token).not.toBe(first.token);
  for (const token of [first.token, second.token]) expect((await second.api.listTasks({ token })).status).toBe(200);
});
