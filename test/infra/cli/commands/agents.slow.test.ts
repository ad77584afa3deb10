import { expect, it } from 'vitest';
import { dataOf, versionOf } from '../../../api.ts';
import { newToken } from '../../../journeys/requests.ts';
import { errorOf } from '../aws.ts';
import { startLocalService } from './local-service.ts';

const { service, crewboard: command } = await startLocalService({ DEFAULT_MODEL: 'old.model' });
const move = (...args: string[]) =>
  command('agents', 'move-model', '--from', 'old.model', '--to', 'new.model', ...args);
const still = 'The default model of the deployment is still old.model; set another one and deploy.\n';

const create = async (token: string, name: string, model: string) => {
  const body = { name, displayName: 'Writer', category: 'business', model };
  expect((await service.api.createAgent({ token, body })).status).toBe(201);
};
const read = async (token: string, name: string) => {
  const answer = await service.api.getAgent({ params: { name }, token });
  return [dataOf<{ model: string }>(answer).model, versionOf(answer)];
};

it('lists the changes, then makes them in one organization or in all, and each once', async () => {
  const [acme, other] = [await newToken(service, 'acme'), await newToken(service, 'other')];
  await create(acme, 'writer', 'old.model');
  await create(acme, 'painter', 'a.third-model');
  expect((await command('settings', 'set', '--org', 'acme', '--default-model', 'old.model')).code).toBe(0);

  const dry = await move('--org', 'acme', '--dry-run');
  expect([dry.code, dry.stderr]).toEqual([0, expect.stringContaining(still)]);
  const rows = ['(default model of the organization)', 'prompt-improver', 'qa-reviewer', 'writer'];
  expect(dry.stdout.split('\n')).toEqual([
    'organization  agent',
    ...rows.map((row) => `acme          ${row}`),
    '4 agents and defaults would move from old.model to new.model. Nothing was changed.',
    '',
  ]);
  expect(await read(acme, 'writer')).toEqual(['old.model', 1]);

  const moved = (count: number) => `${count} agents and defaults moved from old.model to new.model.\n`;
  expect(await move('--org', 'acme')).toMatchObject({ code: 0, stdout: moved(4) });
  expect(await read(acme, 'writer')).toEqual(['new.model', 2]);
  expect(await read(acme, 'painter')).toEqual(['a.third-model', 1]);
  expect(await read(other, 'qa-reviewer')).toEqual(['old.model', 1]);
  expect((await command('settings', 'show', '--org', 'acme')).stdout).toContain('new.model');

  const none = 'No agent and no organization has the model old.model.\n';
  expect((await move('--org', 'acme', '--dry-run')).stdout).toBe(none);
  expect((await move('--org', 'acme')).stdout).toBe(moved(0));
  expect((await move()).code).toBe(0);
  expect(await read(other, 'qa-reviewer')).toEqual(['new.model', 2]);
  expect(await read(acme, 'writer')).toEqual(['new.model', 2]);
});

it('rejects the same model twice', async () => {
  const ended = await command('agents', 'move-model', '--from', 'a.model', '--to', 'a.model');
  expect(errorOf(ended)).toBe('--from and --to name the same model; name two different models.\n');
});
