import { expect, it } from 'vitest';
import { dataOf } from '../../../api.ts';
import { run, startDeployment } from '../../../journeys/deployment.ts';
import { newToken } from '../../../journeys/requests.ts';
import { errorOf } from '../aws.ts';

const service = await startDeployment({ environment: { DEFAULT_MODEL: 'old.model' } });
const command = (...args: string[]) => run(['infra/cli/main.ts', ...args], { CREWBOARD_DATA: service.dataFolder });
const move = (...args: string[]) =>
  command('agents', 'move-model', '--from', 'old.model', '--to', 'new.model', ...args);
const still = 'The default model of the deployment is still old.model; set another one and deploy.\n';

const create = async (token: string, name: string, model: string) => {
  const body = { name, displayName: 'Writer', category: 'business', model };
  expect((await service.api.createAgent({ token, body })).status).toBe(201);
};
const read = async (token: string, name: string) => {
  const answer = await service.api.getAgent({ params: { name }, token });
  return [dataOf<{ model: string }>(answer).model, answer.headers.ETag];
};

it('lists the changes, then makes them in one organization or in all, and each once', async () => {
  const [acme, other] = [await newToken(service, 'acme'), await newToken(service, 'other')];
  await create(acme, 'writer', 'old.model');
  await create(acme, 'painter', 'a.third-model');
  expect((await command('settings', 'set', '--org', 'acme', '--default-model', 'old.model')).code).toBe(0);

  const dry = await move('--org', 'acme', '--dry-run');
  expect(dry.code).toBe(0);
  expect(dry.stderr).toContain(still);
  expect(dry.stdout).toBe(
    [
      'organization  agent',
      'acme          (default model of the organization)',
      'acme          prompt-improver',
      'acme          qa-reviewer',
      'acme          writer',
      '4 agents and defaults would move from old.model to new.model. Nothing was changed.\n',
    ].join('\n'),
  );
  expect(await read(acme, 'writer')).toEqual(['old.model', '"1"']);

  const moved = await move('--org', 'acme');
  expect([moved.code, moved.stdout]).toEqual([0, '4 agents and defaults moved from old.model to new.model.\n']);
  expect(await read(acme, 'writer')).toEqual(['new.model', '"2"']);
  expect(await read(acme, 'painter')).toEqual(['a.third-model', '"1"']);
  expect(await read(other, 'qa-reviewer')).toEqual(['old.model', '"1"']);
  expect((await command('settings', 'show', '--org', 'acme')).stdout).toContain('new.model');

  expect((await move('--org', 'acme', '--dry-run')).stdout).toBe(
    'No agent and no organization has the model old.model.\n',
  );
  expect((await move('--org', 'acme')).stdout).toBe('0 agents and defaults moved from old.model to new.model.\n');
  expect((await move()).code).toBe(0);
  expect(await read(other, 'qa-reviewer')).toEqual(['new.model', '"2"']);
  expect(await read(acme, 'writer')).toEqual(['new.model', '"2"']);
});

it('rejects the same model twice', async () => {
  const ended = await command('agents', 'move-model', '--from', 'a.model', '--to', 'a.model');
  expect(errorOf(ended)).toBe('--from and --to name the same model; name two different models.\n');
});
