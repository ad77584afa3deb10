import type { Organization } from '../contract/organization.ts';
import type { Limits } from '../deployment/limits.ts';
import type { Table, TableContext } from './client.ts';
import { keys } from './keys.ts';
import { getItem } from './reads.ts';
import { ownStartLimit } from './running.ts';
import { limitTokens } from './token-writes.ts';
import { Conflict, ignoreConflict, transact } from './transact.ts';
import type { Write } from './write.ts';

/** What an operator has set of an organization; what is absent is as the deployment has it. */
export type OrganizationSettings = Partial<
  Limits & {
    /** The model of agents that name none. */
    defaultModel: string;
  }
>;

/** Settings to change: a value to set, or `undefined` to leave the setting to the deployment again. */
export type SettingsChange = { [Name in keyof OrganizationSettings]: OrganizationSettings[Name] | undefined };

/** Returns the settings of an organization as they are now. */
export async function readSettings({ table }: TableContext, organization: Organization): Promise<OrganizationSettings> {
  const { pk: _, sk: __, ...settings } = (await getItem(table, keys.settings(organization))) ?? {};
  return settings as OrganizationSettings;
}

/**
 * Changes settings of an organization; those that are not named stay. A limit is also written to where it is enforced: that
 * of requests to each token, that of executions beside their count. A change that is interrupted is completed by making it
 * again. Only the command line changes settings.
 */
export async function changeSettings(
  { table }: TableContext,
  organization: Organization,
  change: SettingsChange,
): Promise<void> {
  await writeSettings(table, organization, change);
  if ('executionsPerMinute' in change)
    await transact(table, [ownStartLimit(organization, change.executionsPerMinute)]).catch(ignoreConflict);
  if ('requestsPerMinute' in change) await limitTokens(table, organization, change.requestsPerMinute);
}

/**
 * Sets another default model if it is still this one.
 *
 * @returns whether it did
 */
export async function replaceDefaultModel(
  { table }: TableContext,
  organization: Organization,
  { from, to }: { from: string; to: string },
): Promise<boolean> {
  const write: Write = {
    Update: {
      Key: keys.settings(organization),
      UpdateExpression: 'SET defaultModel = :to',
      ConditionExpression: 'defaultModel = :from',
      ExpressionAttributeValues: { ':from': from, ':to': to },
      ReturnValues: 'ALL_NEW',
    },
    onConditionFailed: () => new Conflict(),
  };
  return (await transact(table, [write]).catch(ignoreConflict)) !== undefined;
}

async function writeSettings(table: Table, organization: Organization, change: SettingsChange): Promise<void> {
  const Key = keys.settings(organization);
  const entries = Object.entries(change);
  const [set, removed] = [
    entries.filter(([, value]) => value !== undefined),
    entries.filter(([, value]) => value === undefined),
  ];
  const expressions = [
    set.length > 0 && `SET ${set.map(([name]) => `#${name} = :${name}`).join(', ')}`,
    removed.length > 0 && `REMOVE ${removed.map(([name]) => `#${name}`).join(', ')}`,
  ];
  const item = await transact(table, [
    {
      Update: {
        Key,
        UpdateExpression: expressions.filter(Boolean).join(' '),
        ExpressionAttributeNames: Object.fromEntries(entries.map(([name]) => [`#${name}`, name])),
        ...(set.length > 0 && {
          ExpressionAttributeValues: Object.fromEntries(set.map(([name, value]) => [`:${name}`, value])),
        }),
        ReturnValues: 'ALL_NEW',
      },
    },
  ]);
  if (Object.keys(item ?? {}).length === Object.keys(Key).length) await deleteEmptySettings(table, organization);
}

/** Deletes an item that has no setting left. */
async function deleteEmptySettings(table: Table, organization: Organization): Promise<void> {
  const Key = keys.settings(organization);
  const none = ['defaultModel', 'requestsPerMinute', 'executionsPerMinute'] satisfies (keyof OrganizationSettings)[];
  const ConditionExpression = none.map((name) => `attribute_not_exists(${name})`).join(' AND ');
  await transact(table, [{ Delete: { Key, ConditionExpression }, onConditionFailed: () => new Conflict() }]).catch(
    ignoreConflict,
  );
}
