import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { paginationOf, statusAndCodeOf } from '../../../api.ts';
import { newFolder, run, startDeployment } from '../../../journeys/deployment.ts';
import { newToken, tokenCommand } from '../../../journeys/requests.ts';
import { errorOf } from '../aws.ts';

const service = await startDeployment();

/** Runs the npm script of the documentation. */
function npmRun(...args: string[]): Promise<string> {
  const child = spawn('npm', ['run', '--silent', 'token', '--', ...args], {
    env: { ...process.env, CREWBOARD_DATA: service.dataFolder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  return new Promise((resolve) => child.once('close', () => resolve(stdout)));
}

it.concurrent('prints the new token and nothing else, also through npm', async () => {
  const { code, stdout, stderr } = await tokenCommand(service, 'create', '--org', 'printers');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^crew_[0-9A-Za-z]{50}\n$/);
  const byNpm = await npmRun('create', '--org', 'printers');
  expect(byNpm).toMatch(/^crew_[0-9A-Za-z]{50}\n$/);
  expect((await service.api.listTasks({ token: byNpm.trim() })).status).toBe(200);
});

it.concurrent('creates several tokens for one organization', async () => {
  const [one, two] = [await newToken(service, 'shared'), await newToken(service, 'shared')];
  expect(one).not.toBe(two);
  await service.api.createTask({ body: { title: 'Ours' }, token: one });
  expect(paginationOf(await service.api.listTasks({ token: two })).total).toBe(1);
});

it.concurrent('creates a token with the given scopes, by default with all scopes', async () => {
  const reader = await newToken(service, 'readers', '--scopes', 'tasks:read, webhooks:read');
  expect((await service.api.listTasks({ token: reader })).status).toBe(200);
  expect((await service.api.listWebhooks({ token: reader })).status).toBe(200);
  const refused = await service.api.createTask({ body: { title: 'No' }, token: reader });
  expect(statusAndCodeOf(refused)).toEqual([403, 'insufficient_scope']);
  const all = await newToken(service, 'readers');
  expect((await service.api.createTask({ body: { title: 'Yes' }, token: all })).status).toBe(201);
});

it.concurrent('lists the tokens of an organization without their secrets', async () => {
  const [one, two] = [
    await newToken(service, 'listed'),
    await newToken(service, 'listed', '--scopes', 'tasks:read', '--expires-in-days', '7'),
  ];
  const { code, stdout } = await tokenCommand(service, 'list', '--org', 'listed');
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect([code, rows]).toEqual([
    0,
    [
      ['id', 'created', 'expires', 'revoked', 'scopes'],
      [one.slice(5, 17), time, 'never', 'no', 'every scope'],
      [two.slice(5, 17), time, time, 'no', 'tasks:read'],
    ],
  ]);
  for (const token of [one, two]) expect(stdout).not.toContain(token.slice(17));
  expect((await tokenCommand(service, 'list', '--org', 'unknown')).stdout).toMatch(/no tokens/);
});

it.concurrent('revokes a token by its text or its id, also repeatedly', async () => {
  const [byText, byId] = [await newToken(service, 'revoked'), await newToken(service, 'revoked')];
  for (const subject of [byText, byId.slice(5, 17), byText]) {
    const { code, stdout } = await tokenCommand(service, 'revoke', subject);
    expect([code, stdout]).toEqual([0, 'Revoked. Within 30 seconds all requests with this token are rejected.\n']);
  }
  // Neither was used before, so they are not in the cache of the service.
  for (const token of [byText, byId]) {
    const answer = await service.api.listTasks({ token });
    expect(statusAndCodeOf(answer)).toEqual([401, 'unauthorized']);
  }
  const { stdout } = await tokenCommand(service, 'list', '--org', 'revoked');
  const [, ...rows] = stdout.trimEnd().split('\n');
  expect(rows.map((line) => line.split(/ {2,}/)[3])).toEqual([
    expect.stringMatching(/^\d{4}-/),
    expect.stringMatching(/^\d{4}-/),
  ]);
});

it.concurrent('creates a token that is rejected after it expires', async () => {
  const twoDaysAgo = 'data:text/javascript,const now = Date.now; Date.now = () => now() - 2 * 24 * 60 * 60 * 1000;';
  const create = ['infra/cli/main.ts', 'token', 'create', '--org', 'short', '--expires-in-days'];
  const statusOf = async (days: string) => {
    const { stdout } = await run(['--import', twoDaysAgo, ...create, days], { CREWBOARD_DATA: service.dataFolder });
    return (await service.api.listTasks({ token: stdout.trim() })).status;
  };
  expect([await statusOf('1'), await statusOf('3')]).toEqual([401, 200]);
});

it.concurrent.each([
  [
    'an unknown scope',
    ['create', '--org', 'x', '--scopes', 'tasks:read,tasks:fly'],
    /Unknown scope tasks:fly; use tasks:read/,
  ],
  [
    'an organization in capitals',
    ['create', '--org', 'Acme'],
    /'--org <name>' argument 'Acme' is invalid\. It must be 1 to 64 lowercase letters/,
  ],
  ['an unknown option', ['create', '--org', 'x', '--orf', 'y'], /unknown option '--orf'\n\(Did you mean --org\?\)/],
  ['0 days', ['create', '--org', 'x', '--expires-in-days', '0'], /whole number from 1 to 99999/],
  ['an unknown command', ['crate'], /unknown command 'crate'\n\(Did you mean create\?\)/],
  ['revoke of an unknown token', ['revoke', 'AAAAAAAAAAAA'], /There is no such token/],
])('rejects %s in one sentence', async (_, args, message) => {
  expect(errorOf(await tokenCommand(service, ...args))).toMatch(message);
});

it.concurrent('reports that no service runs on the data folder', async () => {
  const dataFolder = newFolder();
  const ended = await tokenCommand({ dataFolder }, 'create', '--org', 'x');
  expect(errorOf(ended)).toBe(`No Crewboard is running on the data folder ${dataFolder}; start one with npm start.\n`);
});

it.concurrent('reports the same if another service has taken its port', async () => {
  const stopped = await startDeployment();
  await stopped.stop();
  await startDeployment({ environment: { PORT: new URL(stopped.url).port } });
  expect(errorOf(await tokenCommand(stopped, 'create', '--org', 'x'))).toMatch(/^No Crewboard is running on the data/);
});
