import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { servedNames } from '../../../../infra/cli/served-commands.ts';
import { closeDataFolder, openDataFolder } from '../../../../infra/local/data-folder.ts';
import { launch, newFolder, startDeployment } from '../../../journeys/deployment.ts';
import { newToken, tokenCommand } from '../../../journeys/requests.ts';
import { crewboardIn } from './local-service.ts';

/** Commands that work with stacks in AWS only, and those that call the API. `agents move-model` is for operators. */
const others = /^(trace|preflight|protect|tasks|executions|webhooks|listen|trigger|agents(?! move-model))\b/;

/** Returns the command lines for operators in a document, such as `token list --org ORG`, without `--stack`. */
function commandsIn(file: string): string[] {
  const text = readFileSync(file, 'utf8').replaceAll(/\\\n\s*/g, '');
  return [...text.matchAll(/npm run (?:--silent )?crewboard -- ([^`#|\n]*)/g)]
    .map(([, line = '']) => line.replace(/--stack \S+/, '').trim())
    .filter((line) => !others.test(line));
}

const documented = [...new Set(['docs/local-service.md', 'docs/runbook.md'].flatMap(commandsIn))].sort();

const nameOf = (line: string) => servedNames.find((name) => `${line} `.startsWith(`${name} `));

/** What each command prints on data without a fault. It ends with the exit code 0. */
const printed: Record<string, RegExp> = {
  backup: /^Copied the table to \/\S+\/copy\.db\.\n$/,
  'agents move-model': /^No agent and no organization has the model MODEL\.\n$/,
  'deliveries verify': /^organization +events +deliveries +waiting +lost\nacme +0 +0 +0 +0\n/,
  'dead-letters drop': /^There are no dead letters of the kind unreadable\.\n$/,
  'dead-letters list': /^kind +dead letters +oldest sent\ndeliveries +0\n/,
  'dead-letters redrive': /^There are no dead letters/,
  'dead-letters show': /^There are no dead letters/,
  'orgs list': /^organization +since +active tokens\nacme /,
  reconcile: /^All lists and counts of acme are correct\.\n/,
  'settings set': /^In acme, 2000000 tokens a UTC day are allowed\.\n$/,
  'settings show': /^setting +value +set by +used today\ndefault-model /,
  'settings unset':
    /^In acme, the deployment's any number of tokens|^In acme, any number of tokens a UTC day are allowed\.\n$/,
  'token create': /^crew_\w{50}\n$/,
  'token list': /^id +name +created +/,
  'token revoke': /^Revoked\./,
};

it('the documents have every command for operators, and no other one', () => {
  expect(documented.filter((line) => nameOf(line) === undefined)).toEqual([]);
  expect([...new Set(documented.map(nameOf))].sort()).toEqual(servedNames.toSorted());
  expect(Object.keys(printed).sort()).toEqual(servedNames.toSorted());
});

/** Starts a service with an organization. Returns what runs a documented command on its data folder. */
async function startWithOrganization() {
  const service = await startDeployment();
  const values = {
    ORG: 'acme',
    KIND: 'deliveries',
    FILE: join(newFolder(), 'copy.db'),
    'TOKEN-OR-ID': await newToken(service, 'acme'),
  };
  const runDocumented = (line: string) =>
    crewboardIn(
      { CREWBOARD_DATA: service.dataFolder },
      ...line.split(/\s+/).map((part) => values[part as keyof typeof values] ?? part),
    );
  return { service, runDocumented };
}

const running = await startWithOrganization();
const stopped = await startWithOrganization();
await stopped.service.stop();

it.each(documented)('a running service runs %j', async (line) => {
  const { code, stdout, stderr } = await running.runDocumented(line);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(printed[nameOf(line) as string] as RegExp);
});

it.each(documented)('%j works without a service, or says that it needs one', async (line) => {
  const { code, stdout, stderr } = await stopped.runDocumented(line);
  if (line.startsWith('dead-letters')) {
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      `No Crewboard is running on the data folder ${stopped.service.dataFolder}, and its queues and dead letters are in its memory only; start one with npm start.\n`,
    );
  } else {
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(printed[nameOf(line) as string] as RegExp);
  }
});

it('a service that stops removes its socket', () => {
  for (const [{ service }, exists] of [
    [running, true],
    [stopped, false],
  ] as const)
    expect(existsSync(join(service.dataFolder, 'commands.sock'))).toBe(exists);
});

it('neither a command nor a service starts while another command uses the data folder', async () => {
  const { dataFolder } = stopped.service;
  const inUse = `Another Crewboard, or one of its commands, is running on the data folder ${dataFolder};`;
  const data = openDataFolder(dataFolder);
  try {
    const { code, stdout, stderr } = await tokenCommand({ dataFolder }, 'list', '--org', 'acme');
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining(inUse)]);
    expect((await launch({ dataFolder }).ended).stderr).toContain(inUse);
  } finally {
    closeDataFolder(data);
  }
});

it('commands work after a service was killed, and in the next one', async () => {
  const killed = await startDeployment();
  const { dataFolder } = killed;
  const socket = join(dataFolder, 'commands.sock');
  const kill = async (service: typeof killed) => {
    await service.stop('SIGKILL');
    expect(existsSync(socket)).toBe(true);
  };
  await kill(killed);
  const one = await newToken(killed, 'after-the-kill');
  await kill(await startDeployment({ dataFolder }));
  const next = await startDeployment({ dataFolder });
  const two = await newToken(next, 'after-the-kill');
  for (const token of [one, two]) expect((await next.api.listTasks({ token })).status).toBe(200);
});

it('a service in a folder with a long path runs commands', async () => {
  const dataFolder = join(newFolder(), 'x'.repeat(120));
  const service = await startDeployment({ dataFolder });
  expect(existsSync(join(dataFolder, 'commands.sock'))).toBe(false);
  const token = await newToken(service, 'deep');
  expect((await service.api.listTasks({ token })).status).toBe(200);
});
