import { beforeAll, expect, it } from 'vitest';
import type { Organization } from '../../../lib/contract/organization.ts';
import { findUsersOfModel } from '../../../lib/table/agents/model-users.ts';
import type { Table } from '../../../lib/table/client.ts';
import { keys } from '../../../lib/table/keys.ts';
import { changeSettings } from '../../../lib/table/organizations/settings.ts';
import { transact } from '../../../lib/table/transact.ts';
import { createTestTable } from '../tasks/test-table.ts';

const [one, other] = ['one', 'other'] as Organization[] as [Organization, Organization];
let table: Table;
beforeAll(async () => {
  ({ table } = await createTestTable());
  const put = (organization: Organization, name: string, model?: string) => ({
    Put: { Item: { ...keys.agent(organization, name), kind: 'agent', ...(model && { model }) } },
  });
  await transact(table, [
    put(one, 'b', 'old'),
    put(one, 'a', 'old'),
    put(one, 'c', 'new'),
    put(one, 'ancient'),
    put(other, 'a', 'old'),
  ]);
  await changeSettings({ table }, one, { defaultModel: 'old' });
  await changeSettings({ table }, other, { defaultModel: 'new' });
});

const find = async (model: string, organization?: Organization) => {
  const users = await findUsersOfModel(table, { model, defaultModel: 'of the deployment', organization });
  const own = users.filter(({ organization: of }) => [one, other].includes(of));
  return own.map(({ organization: of, agent }) => [of, agent]);
};

it('agents and organizations that use a model are sorted by organization and name', async () => {
  expect(await find('old')).toEqual([
    ['one', undefined],
    ['one', 'a'],
    ['one', 'b'],
    ['other', 'a'],
  ]);
  expect(await find('old', other)).toEqual([['other', 'a']]);
  expect(await find('new')).toEqual([
    ['one', 'c'],
    ['other', undefined],
  ]);
});

it('an agent of a version without models uses the default model of the deployment', async () => {
  expect(await find('of the deployment')).toEqual([['one', 'ancient']]);
  expect(await find('of the deployment', one)).toEqual([['one', 'ancient']]);
});
