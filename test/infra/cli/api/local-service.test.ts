import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { newFolder, startDeployment } from '../../../journeys/deployment.ts';
import { createTask } from '../../../journeys/requests.ts';
import { crewboard } from './crewboard.ts';

const service = await startDeployment();
const task = await createTask(service, 'Draw it');
const inFolder = { CREWBOARD_DATA: service.dataFolder };

/** A program at an address that a service had before, and the requests that it gets. */
const requests: string[] = [];
const other = createServer((request, response) => {
  requests.push(request.url ?? '');
  response.end();
});
await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
afterAll(() => void other.close());
const otherUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;

/** Returns a data folder with these addresses and a token. */
function folderWith(addresses: unknown): { CREWBOARD_DATA: string } {
  const CREWBOARD_DATA = newFolder();
  writeFileSync(join(CREWBOARD_DATA, 'addresses.json'), JSON.stringify(addresses));
  writeFileSync(join(CREWBOARD_DATA, 'token'), 'crew_local\n');
  return { CREWBOARD_DATA };
}

it('uses the local service that runs on the data folder, on any port, without variables for its URL and its token', async () => {
  const listed = await crewboard(['tasks', 'list'], inFolder);
  expect(listed).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining(task) });
  const { stdout } = await crewboard(['whoami'], inFolder);
  expect(stdout).toContain(`service       ${service.url}\n`);
});

it('uses the token of the local service also if its URL is given, and only then', async () => {
  const given = await crewboard(['tasks', 'list', '--url', `${service.url}/`], inFolder);
  expect(given).toMatchObject({ code: 0, stdout: expect.stringContaining(task) });
  const elsewhere = await crewboard(['tasks', 'list', '--url', otherUrl], inFolder);
  expect(elsewhere).toMatchObject({ code: 2, stderr: expect.stringMatching(/^error: there is no access token for/) });
  expect(requests).toEqual([]);
});

it('sends a given token to the local service', async () => {
  const unknown = { ...inFolder, CREWBOARD_TOKEN: `crew_${'0'.repeat(50)}` };
  const { code, stderr } = await crewboard(['tasks', 'list'], unknown);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/Request id: /)]);
});

/** Runs `tasks list` with a service of every URL that answers with an empty page. Returns the origins that were asked. */
async function askedBy(variables: Record<string, string>): Promise<string[]> {
  const origins: string[] = [];
  vi.stubGlobal('fetch', async (target: string) => {
    origins.push(new URL(target).origin);
    return Response.json({ success: true, data: [], pagination: { limit: 20, offset: 0, total: 0 } });
  });
  try {
    expect(await crewboard(['tasks', 'list'], variables)).toMatchObject({ code: 0 });
  } finally {
    vi.unstubAllGlobals();
  }
  return origins;
}

it.each([
  ['another program has its address now', { url: otherUrl, commands: join(newFolder(), 'commands.sock') }],
  ['it accepts no commands', { url: otherUrl }],
  [
    'the address is that of another machine',
    { url: 'http://192.0.2.1:3000', commands: join(service.dataFolder, 'commands.sock') },
  ],
  ['the file is damaged', 'damaged'],
])('sends nothing to the address of a service that was killed: %s', async (_, addresses) => {
  expect(await askedBy(folderWith(addresses))).toEqual(['http://127.0.0.1:3000']);
});

it.skipIf(process.platform === 'win32')('ignores the addresses in a folder of another user', async () => {
  const owner = vi.spyOn(process, 'geteuid').mockReturnValue(statSync(service.dataFolder).uid + 1);
  try {
    expect(await askedBy(inFolder)).toEqual(['http://127.0.0.1:3000']);
  } finally {
    owner.mockRestore();
  }
  expect(await askedBy(inFolder)).toEqual([service.url]);
});

it('finds files that only their user can read', () => {
  for (const name of ['addresses.json', 'token']) {
    const file = join(service.dataFolder, name);
    expect(existsSync(file)).toBe(true);
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o077).toBe(0);
  }
  const addresses = readFileSync(join(service.dataFolder, 'addresses.json'), 'utf8');
  expect(addresses).not.toContain(service.token);
});
