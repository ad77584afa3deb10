import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { connect, defaultUrl } from '../../../../infra/cli/api/connection.ts';
import manifest from '../../../../package.json' with { type: 'json' };
import { createTemporaryFolder } from '../../../temporary-files.ts';
import { crewboard } from './crewboard.ts';

/** What the server answers: an empty page. */
const empty = { success: true, data: [], pagination: { limit: 20, offset: 0, total: 0 } };
const requests: IncomingMessage[] = [];
const server = createServer((request, response) => {
  requests.push(request);
  response.end(JSON.stringify(empty));
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
afterAll(() => void server.close());
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** Returns the `Authorization` header that a command sends to the server. */
async function sentBy(args: string[], variables: Record<string, string>): Promise<string | undefined> {
  requests.length = 0;
  expect(await crewboard(['tasks', 'list', ...args], variables)).toMatchObject({ code: 0, stderr: '' });
  return requests[0]?.headers.authorization;
}

it('takes the URL and the token from the options, or else from the environment', async () => {
  const variables = { CREWBOARD_URL: url, CREWBOARD_TOKEN: 'crew_variable' };
  expect(await sentBy([], variables)).toBe('Bearer crew_variable');
  const options = ['--url', url, '--token', 'crew_option'];
  expect(await sentBy(options, { CREWBOARD_URL: 'http://127.0.0.1:9', CREWBOARD_TOKEN: 'crew_variable' })).toBe(
    'Bearer crew_option',
  );
});

it('uses the token of the data folder for the default URL only', async () => {
  const CREWBOARD_DATA = createTemporaryFolder();
  writeFileSync(join(CREWBOARD_DATA, 'token'), 'crew_local\n');
  const asked: RequestInit[] = [];
  vi.stubGlobal('fetch', async (_: URL, init: RequestInit) => {
    asked.push(init);
    return Response.json(empty);
  });
  try {
    expect(await crewboard(['tasks', 'list'], { CREWBOARD_DATA })).toMatchObject({ code: 0 });
    expect(await crewboard(['tasks', 'list'], { CREWBOARD_DATA, CREWBOARD_URL: `${defaultUrl}/` })).toMatchObject({
      code: 0,
    });
    expect(asked.map(({ headers }) => new Headers(headers).get('Authorization'))).toEqual([
      'Bearer crew_local',
      'Bearer crew_local',
    ]);
    const other = await crewboard(['tasks', 'list', '--url', 'http://127.0.0.1:3001'], { CREWBOARD_DATA });
    expect(other.code).toBe(2);
    expect(other.stderr).toMatch(
      /^error: there is no access token for http:\/\/127\.0\.0\.1:3001; set CREWBOARD_TOKEN/,
    );
    expect(asked).toHaveLength(2);
  } finally {
    vi.unstubAllGlobals();
  }
});

it('says how to get a token if the local service has none', async () => {
  const CREWBOARD_DATA = createTemporaryFolder();
  const { code, stdout, stderr } = await crewboard(['agents', 'list'], { CREWBOARD_DATA });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(`The local service writes its token to ${join(CREWBOARD_DATA, 'token')};`);
  expect(stderr).toContain('npm run --silent crewboard -- token create --org NAME');
});

it.each(['crew_secret\u0007', 'crew secret', 'crew_geheim…'])(
  'rejects a token that no header can have, without printing it',
  async (token) => {
    const { code, stdout, stderr } = await crewboard(['tasks', 'list', '--token', token, '--url', url]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: token contains a character that no access token has/);
    expect(stderr).not.toContain(token.slice(0, 6));
  },
);

it.each(['', 'localhost:3000', 'ftp://127.0.0.1', 'http://user:word@127.0.0.1', 'http://127.0.0.1?x=1'])(
  'rejects the URL %j',
  async (given) => {
    const { code, stderr } = await crewboard(['tasks', 'list', '--url', given, '--token', 'crew_x']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^error: url is not an HTTP URL of the service/)]);
  },
);

it.each([
  ['tasks', 'list'],
  ['tasks', 'add', 'Build it'],
  ['tasks', 'done', 'tk_01K00000000000000000000000'],
])('names the URL and the way to start the service if nothing listens: %s %s', async (...args) => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const variables = { CREWBOARD_URL: `http://127.0.0.1:${port}`, CREWBOARD_TOKEN: 'crew_secret' };
  const text = `Crewboard cannot be reached at http://127.0.0.1:${port} (connect ECONNREFUSED 127.0.0.1:${port}). Check the URL; npm start in the repository starts the local service.\n`;
  expect(await crewboard(args, variables)).toEqual({ code: 1, stdout: '', stderr: text });
});

it('waits and tries again if a connection breaks', async () => {
  let attempts = 0;
  const client = connect({ url, token: 'crew_x' }, { error: expect.fail });
  vi.stubGlobal('fetch', async () => {
    if (++attempts < 2) throw new TypeError('fetch failed', { cause: { code: 'ECONNRESET' } });
    return Response.json(empty);
  });
  try {
    expect((await client.listTasks()).data).toEqual([]);
    expect(attempts).toBe(2);
  } finally {
    vi.unstubAllGlobals();
  }
});

it('names the request and the cause if the service ends the connection', async () => {
  const ending = createServer((request) => request.socket.destroy());
  await new Promise<void>((resolve) => ending.listen(0, '127.0.0.1', resolve));
  const target = `http://127.0.0.1:${(ending.address() as AddressInfo).port}`;
  const id = 'tk_01K00000000000000000000000';
  const { code, stdout, stderr } = await crewboard(['tasks', 'done', id, '--url', target, '--token', 'crew_x']);
  ending.close();
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain(`PATCH ${target}/api/kanban-tasks/${id} got no response: `);
  expect(stderr).toContain('npm start in the repository');
});

it.each([
  [['tasks', 'list', '--status', 'gone'], /Allowed choices are backlog, assigned, in_progress/],
  [['tasks', 'list', '--limit', '101'], /whole number from 1 to 100/],
  [['tasks', 'list', '--limit', '5', '--all'], /cannot be used with option '--all'/],
  [['tasks', 'show', 'ex_1'], /It must be an id of the form tk_ followed by a ULID/],
  [['tasks', 'move', 'tk_01K00000000000000000000000', 'gone'], /Allowed choices are backlog/],
  [['tasks', 'add'], /missing required argument 'title'/],
  [['agents', 'show', 'Builder'], /It must be kebab-case/],
  [['webhooks', 'add', 'http://x', '--events', 'task.gone'], /Unknown event task\.gone; use task\.created/],
  [['task'], /unknown command 'task'\n\(Did you mean tasks\?\)/],
  [['tasks'], /^Usage: crewboard tasks/],
])('exits with 2 for the wrong usage %j', async (args, message) => {
  const { code, stdout, stderr } = await crewboard(args, { CREWBOARD_URL: url, CREWBOARD_TOKEN: 'crew_x' });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toMatch(message);
});

it('prints its version, and its exit codes with the help', async () => {
  expect(await crewboard(['--version'])).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
  const { code, stdout } = await crewboard(['--help']);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/Exit codes:\n {2}0 [\s\S]* {2}1 [\s\S]* {2}2 /)]);
});
