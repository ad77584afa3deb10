import { beforeAll, expect, it } from 'vitest';
import type { Organization } from '../../lib/contract/organization.ts';
import type { Table } from '../../lib/table/client.ts';
import { openSettings, type Settings } from '../../lib/table/settings.ts';
import { dumpOf } from '../table-dump.ts';
import { openBoard } from './board.ts';

let table: Table;
let settings: Settings;
beforeAll(async () => {
  ({ table } = await openBoard());
  settings = openSettings(table);
});

it('of an organization are empty until something is set', async () => {
  expect(await settings.get('new' as Organization)).toEqual({});
});

it('are read as they were set last, by that organization alone', async () => {
  const [one, other] = ['one', 'one-2'] as Organization[] as [Organization, Organization];
  await settings.setDefaultModel(one, 'first.model');
  await settings.setDefaultModel(one, 'second.model');
  expect(await settings.get(one)).toEqual({ defaultModel: 'second.model' });
  expect(await settings.get(other)).toEqual({});
});

it('get another default model only where they have the one to replace', async () => {
  const organization = 'moved' as Organization;
  const move = (from: string, to: string) => settings.moveDefaultModel(organization, { from, to });
  expect(await move('old.model', 'new.model')).toBe(false);
  expect(await settings.get(organization)).toEqual({});
  await settings.setDefaultModel(organization, 'old.model');
  expect(await move('another.model', 'new.model')).toBe(false);
  expect(await move('old.model', 'new.model')).toBe(true);
  expect(await settings.get(organization)).toEqual({ defaultModel: 'new.model' });
});

it('that are unset leave nothing behind, set before or not', async () => {
  const organization = 'unset' as Organization;
  await settings.setDefaultModel(organization, undefined);
  await settings.setDefaultModel(organization, 'some.model');
  await settings.setDefaultModel(organization, undefined);
  expect(await settings.get(organization)).toEqual({});
  expect(await dumpOf(table, organization)).toEqual({});
});
