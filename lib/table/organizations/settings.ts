import type { Organization } from '../../contract/organization.ts';
import type { OwnLimits } from '../../settings/limits.ts';
import type { Table, TableContext } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { getItem } from '../access/reads.ts';
import { Conflict, ignoreConflict, transact } from '../access/transact.ts';
import type { Write } from '../access/write.ts';
import { ownStartLimit } from '../executions/running.ts';
import { updateTokenLimits } from './token-writes.ts';

/** The settings of an organization. An absent setting has the value of the deployment. */
export type OrganizationSettings = Partial<
  OwnLimits & {
    /** The model of new agents without a model. */
    defaultModel: string;
  }
>;

/** Settings to change. `undefined` removes a setting. */
export type SettingsChange = { [Name in keyof OrganizationSettings]: OrganizationSettings[Name] | undefined };

/** Returns the settings of an organization, strongly consistent. */
export async function readOrganizationSettings(
  { table }: TableContext,
  organization: Organization,
): Promise<OrganizationSettings> {
  const { pk, sk, ...settings } = (await getItem(table, keys.settings(organization))) ?? {};
  return settings as OrganizationSettings;
}

/**
 * Changes settings of an organization. Settings that the change does not name stay. Limits are also written to the
 * items that enforce them: the limit of requests to each access token, the limits of executions and tokens to their counter. If a
 * change is interrupted, make it again to complete it. Only the command line changes settings.
 */
export async function changeSettings(
  { table }: TableContext,
  organization: Organization,
  change: SettingsChange,
): Promise<void> {
  await writeSettings(table, organization, change);
  for (const limit of ['executionsPerMinute', 'dailyTokens'] as const)
    if (limit in change)
      await transact(table, [ownStartLimit(organization, limit, change[limit])]).catch(ignoreConflict);
  if ('requestsPerMinute' in change) await updateTokenLimits(table, organization, change.requestsPerMinute);
}

/**
 * Replaces the default model of an organization if it is `from`.
 *
 * @returns whether it was replaced
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

/** Deletes the item of the settings if it has no setting. */
async function deleteEmptySettings(table: Table, organization: Organization): Promise<void> {
  const Key = keys.settings(organization);
  const names = [
    'defaultModel',
    'requestsPerMinute',
    'executionsPerMinute',
    'dailyTokens',
  ] satisfies (keyof OrganizationSettings)[];
  const ConditionExpression = names.map((name) => `attribute_not_exists(${name})`).join(' AND ');
  await transact(table, [{ Delete: { Key, ConditionExpression }, onConditionFailed: () => new Conflict() }]).catch(
    ignoreConflict,
  );
}
