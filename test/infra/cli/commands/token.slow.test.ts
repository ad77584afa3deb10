import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { scopes } from '../../../../lib/contract/endpoint.ts';
import { paginationOf, statusAndCodeOf } from '../../../api.ts';
import { newFolder, run, startDeployment } from '../../../journeys/deployment.ts';
import { newToken, tokenCommand } from '../../../journeys/requests.ts';
import { errorOf } from '../aws.ts';
import { columnsOf } from './local-service.ts';

const service = await startDeployment();

it.concurrent('prints the new token and nothing else, also through npm', async () => {
  const { code, stdout, stderr } = await tokenCommand(service, 'create', '--org', 'printers');
  expect([code, stderr]).toEqual([0, '']);
  const script = ['run', '--silent', 'crewboard', '--', 'token', 'create', '--org', 'printers'];
  const env = { ...process.env, CREWBOARD_DATA: service.dataFolder };
  const byNpm = await promisify(execFile)('npm', script, { env });
  for (const text of [stdout, byNpm.stdout]) expect(text).toMatch(/^crew_[0-9A-Za-z]{50}\n$/);
  expect((await service.api.listTasks({ token: byNpm.stdout.trim() })).status).toBe(200);
});

it.concurrent('creates tokens with the given scopes or with all, which share the data of their organization', async () => {
  const reader = await newToken(service, 'shared', '--scopes', 'tasks:read, webhooks:read');
  const all = await newToken(service, 'shared');
  const body = { title: 'Ours' };
  expect((await service.api.createTask({ body, token: all })).status).toBe(201);
  expect(paginationOf(await service.api.listTasks({ token: reader })).total).toBe(1);
  expect((await service.api.listWebhooks({ token: reader })).status).toBe(200);
  const refused = await service.api.createTask({ body, token: reader });
  expect(statusAndCodeOf(refused)).toEqual([403, 'insufficient_scope']);
});

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

async function listed(org: string): Promise<string[][]> {
  const { code, stdout } = await tokenCommand(service, 'list', '--org', org);
  expect(code).toBe(0);
  return columnsOf(stdout);
}

it.concurrent('lists the tokens of an organization with their names and last uses, without their secrets', async () => {
  const one = await newToken(service, 'listed');
  const two = await newToken(service, 'listed', '--scopes=tasks:read', '--expires-in-days=7', '--name', 'ci of shop');
  await service.api.listTasks({ token: two });
  const rows = await listed('listed');
  const [id, other] = [one.slice(5, 17), two.slice(5, 17)];
  expect(rows).toEqual([
    ['id', 'name', 'created', 'last used', 'expires', 'revoked', 'scopes'],
    [id, '-', time, 'never', 'never', 'no', 'every scope'],
    [other, 'ci of shop', time, time, time, 'no', 'tasks:read'],
  ]);
  const { stdout } = await tokenCommand(service, 'list', '--org', 'listed', '--json');
  expect(JSON.parse(stdout)).toEqual({
    data: [
      { id, scopes, createdAt: time },
      { id: other, name: 'ci of shop', scopes: ['tasks:read'], createdAt: time, lastUsedAt: time, expires: time },
    ],
  });
  for (const token of [one, two]) expect(String(rows)).not.toContain(token.slice(17));
  expect(String(await listed('unknown'))).toMatch(/no tokens/);
});

it.concurrent('revokes a token by its text or its id, also repeatedly', async () => {
  const [byText, byId] = [await newToken(service, 'revoked'), await newToken(service, 'revoked')];
  for (const subject of [byText, byId.slice(5, 17), byText]) {
    const { code, stdout } = await tokenCommand(service, 'revoke', subject);
    expect([code, stdout]).toEqual([0, 'Revoked. Within 30 seconds all requests with this token are rejected.\n']);
  }
  // Neither was used before, so they are not in the cache of the service.
  for (const token of [byText, byId])
    expect(statusAndCodeOf(await service.api.listTasks({ token }))).toEqual([401, 'unauthorized']);
  const [, ...rows] = await listed('revoked');
  expect(rows.map(([, , , , , revoked]) => revoked)).toEqual([time, time]);
});

it.concurrent('creates a token that is rejected after it expires', async () => {
  const twoDaysAgo = 'data:text/javascript,const now = Date.now; Date.now = () => now() - 2 * 24 * 60 * 60 * 1000;';
  const create = ['infra/cli/main.ts', 'token', 'create', '--org', 'short', '--expires-in-days'];
  const stopped = await startDeployment();
  await stopped.stop();
  const { dataFolder } = stopped;
  const created = async (days: string) =>
    (await run(['--import', twoDaysAgo, ...create, days], { CREWBOARD_DATA: dataFolder })).stdout.trim();
  const tokens = [await created('1'), await created('3')];
  const { api } = await startDeployment({ dataFolder });
  const answers = await Promise.all(tokens.map((token) => api.listTasks({ token })));
  expect(answers.map(({ status }) => status)).toEqual([401, 200]);
});

it.concurrent.each([
  ['create --org x --scopes tasks:read,tasks:fly', /Unknown scope tasks:fly; use tasks:read/],
  ['create --org Acme', /'--org <name>' argument 'Acme' is invalid\. It must be 1 to 64 lowercase letters/],
  ['create --org x --orf y', /unknown option '--orf'\n\(Did you mean --org\?\)/],
  ['create --org x --expires-in-days 0', /whole number from 1 to 99999/],
  [`create --org x --name ${'n'.repeat(65)}`, /It must have 1 to 64 characters in one line/],
  ['create --org x --name=\n', /It must have 1 to 64 characters in one line/],
  ['crate', /unknown command 'crate'\n\(Did you mean create\?\)/],
  ['revoke AAAAAAAAAAAA', /There is no such token/],
])('rejects %j in one sentence', async (command, message) => {
  expect(errorOf(await tokenCommand(service, ...command.split(' ')))).toMatch(message);
});

it.concurrent('reports that the data folder has no data, and creates none', async () => {
  const dataFolder = newFolder();
  expect(errorOf(await tokenCommand({ dataFolder }, 'create', '--org', 'x'))).toBe(
    `No Crewboard is running on the data folder ${dataFolder}; start one with npm start.\n`,
  );
  expect(readdirSync(dataFolder)).toEqual([]);
});

it.concurrent('works on the data of a stopped service, also if another service has taken its port', async () => {
  const stopped = await startDeployment();
  await stopped.stop();
  const other = await startDeployment({ environment: { PORT: new URL(stopped.url).port } });
  const token = await newToken(stopped, 'x');
  expect((await other.api.listTasks({ token })).status).toBe(401);
  const { stdout } = await tokenCommand(stopped, 'list', '--org', 'x');
  expect(columnsOf(stdout)[1]?.[0]).toBe(token.slice(5, 17));
});
