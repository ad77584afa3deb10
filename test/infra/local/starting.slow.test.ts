import { readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { launch, newFolder, startDeployment, until, untilNoneRunsOn } from '../../journeys/deployment.ts';
import { processesOn } from '../../processes.ts';

/** Starts the service where it cannot run, and answers what it says of it. */
async function refusal(environment: Record<string, string>, nodeOptions: string[] = []): Promise<string> {
  const { ended, dataFolder } = launch({ dataFolder: newFolder(), environment, nodeOptions });
  const { code, stdout, stderr } = await ended;
  expect(code).toBe(1);
  expect(stdout).not.toContain('ready');
  await untilNoneRunsOn(dataFolder);
  return stderr;
}

/** One sentence on one line: no stack trace, no name of a class. */
function sentence(text: string): RegExp {
  return new RegExp(`^Crewboard cannot \\w+: [^\\n]*${text}[^\\n]*\\.\\n$`);
}

/** The addresses that a process listens at, in the kernel's hexadecimal. */
function listeningAt(pid: number): string[] {
  const sockets = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return '';
    }
  });
  const lines = ['tcp', 'tcp6'].flatMap((table) => readFileSync(`/proc/net/${table}`, 'utf8').split('\n'));
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && sockets.includes(`socket:[${inode}]`))
    .map(([, local]) => local?.split(':')[0] as string);
}

it.concurrent('says where it is, gives a token and says that it is ready', async () => {
  const service = await startDeployment();
  expect(service.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(service.token).toMatch(/^crew_[0-9A-Za-z]{50}$/);
  const file = join(service.dataFolder, 'token');
  expect(readFileSync(file, 'utf8')).toBe(`${service.token}\n`);
  expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
});

it.concurrent('listens on the loopback alone, with each of its parts', async () => {
  const service = await startDeployment();
  const addresses = [service.pid, ...processesOn(service.dataFolder)].flatMap(listeningAt);
  expect(addresses.length).toBeGreaterThanOrEqual(2);
  expect([...new Set(addresses)]).toEqual(['0100007F']);
});

it.concurrent('tells that its port is taken', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  expect(await refusal({ PORT: String(port) })).toMatch(sentence(`ort ${port} is taken`));
  server.close();
});

it.concurrent('tells that PORT is no port', async () => {
  expect(await refusal({ PORT: 'http' })).toMatch(sentence('PORT is "http"; set it to a number from 0 to 65535'));
});

it.concurrent('tells that its data folder cannot be written', async () => {
  expect(await refusal({ CREWBOARD_DATA: '/dev/null/x' })).toMatch(sentence('he data folder /dev/null/x cannot'));
});

it.concurrent('tells that another runs on its data folder, and leaves that one alone', async () => {
  const service = await startDeployment();
  expect(await refusal({ CREWBOARD_DATA: service.dataFolder })).toMatch(
    sentence('nother Crewboard is running on the data folder'),
  );
  expect((await service.api('GET', '/api/kanban-tasks')).status).toBe(200);
});

it.concurrent('tells that nothing answers at DYNAMODB_ENDPOINT', async () => {
  const said = await refusal({ DYNAMODB_ENDPOINT: 'http://127.0.0.1:1' });
  expect(said).toMatch(sentence('othing answers at DYNAMODB_ENDPOINT http://127.0.0.1:1'));
});

it.concurrent('tells that DYNAMODB_ENDPOINT is no URL', async () => {
  expect(await refusal({ DYNAMODB_ENDPOINT: 'localhost' })).toMatch(sentence('DYNAMODB_ENDPOINT'));
});

it.concurrent('tells that ALLOWED_RECEIVERS cannot be read', async () => {
  expect(await refusal({ ALLOWED_RECEIVERS: 'localhost' })).toMatch(sentence('ALLOWED_RECEIVERS'));
});

it.concurrent('tells that RETRY_LADDER cannot be read', async () => {
  expect(await refusal({ RETRY_LADDER: '5m,30m,2h' })).toMatch(sentence('RETRY_LADDER is "5m,30m,2h"; write three'));
});

it.concurrent('starts where RETRY_LADDER is empty, as if it were not set', async () => {
  const service = await startDeployment({ environment: { RETRY_LADDER: '' } });
  expect((await service.api('GET', '/api/webhooks')).status).toBe(200);
});

it.concurrent('tells that RUNNING_CAP cannot be meant', async () => {
  expect(await refusal({ RUNNING_CAP: '0' })).toMatch(sentence('RUNNING_CAP is "0"; set it to a whole number'));
});

it.concurrent('runs as many executions of an organization at once as RUNNING_CAP says', async () => {
  // The model answers long after the test has ended.
  const service = await startDeployment({ environment: { RUNNING_CAP: '1', MODEL_LATENCY_MS: '60000' } });
  const execute = () => service.api('POST', '/api/agents/prompt-improver/execute', { body: { input: 'Improve.' } });
  expect((await execute()).status).toBe(200);
  const refused = await execute();
  expect([refused.status, refused.body.error.code]).toEqual([429, 'rate_limited']);
  expect(refused.headers.get('Retry-After')).toBe('10');
  await service.stop('SIGKILL');
});

it.concurrent('says which model answers agents, and never its key', async () => {
  const service = await startDeployment();
  expect(service.output()).toContain('\nAgents use the built-in simulator (set MODEL_BASE_URL');
  const environment = { MODEL_BASE_URL: 'http://127.0.0.1:1/v1', MODEL_NAME: 'llama', MODEL_API_KEY: 'sk-secret' };
  const bridged = await startDeployment({ environment });
  expect(bridged.output()).toContain('\nAgents use llama at http://127.0.0.1:1/v1.\n');
  const { stdout, stderr } = await bridged.stop();
  expect(stdout + stderr).not.toContain('sk-secret');
});

it.concurrent('tells that a setting of the model cannot be used', async () => {
  expect(await refusal({ MODEL_LATENCY_MS: '5s' })).toMatch(sentence('MODEL_LATENCY_MS is "5s"; set it to a whole'));
});

it.concurrent('tells what is wrong with the script of the simulator', async () => {
  const script = join(newFolder(), 'script.json');
  writeFileSync(script, '[{"match":"tea"}]');
  expect(await refusal({ MODEL_SCRIPT: script })).toMatch(sentence('rule 1 must have exactly one of text, throttle'));
});

it.concurrent('tells how to go on where no engine is bundled for the platform', async () => {
  const elsewhere = "data:text/javascript,Object.defineProperty(process, 'arch', { value: 's390x' })";
  const said = await refusal({}, ['--import', elsewhere]);
  expect(said).toMatch(sentence(`${process.platform}-s390x;.* set DYNAMODB_ENDPOINT=http://127.0.0.1:8000`));
});

it.concurrent('tells that its database is none', async () => {
  const dataFolder = newFolder();
  writeFileSync(join(dataFolder, 'table.db'), 'not a database at all '.repeat(100));
  expect(await refusal({ CREWBOARD_DATA: dataFolder })).toMatch(sentence('engine'));
  await untilNoneRunsOn(dataFolder);
});

it.concurrent('ends when its engine does, for nothing works without', async () => {
  const service = await startDeployment();
  for (const pid of processesOn(service.dataFolder))
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('/bin/sh') === false) process.kill(pid, 'SIGKILL');
  const { code, stderr } = await service.ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(sentence('the table engine has ended'));
  await untilNoneRunsOn(service.dataFolder);
});

it.concurrent('leaves nothing running when it is interrupted while it starts', async () => {
  const { child, ended, dataFolder } = launch();
  await until('the engine starts', () => processesOn(dataFolder).length > 0);
  child.kill('SIGINT');
  expect((await ended).stdout).not.toContain('ready');
  await untilNoneRunsOn(dataFolder);
});

it.concurrent('makes a new token where the kept one is gone, and keeps one that is there', async () => {
  const first = await startDeployment();
  await first.stop();
  writeFileSync(join(first.dataFolder, 'token'), 'rubbish\n');
  const second = await startDeployment({ dataFolder: first.dataFolder });
  expect(second.token).not.toBe(first.token);
  for (const token of [first.token, second.token])
    expect((await second.api('GET', '/api/kanban-tasks', { token })).status).toBe(200);
});
