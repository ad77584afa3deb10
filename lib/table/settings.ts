import type { Organization } from '../contract/organization.ts';
import type { Table } from './client.ts';
import { keys } from './keys.ts';
import { getItem } from './reads.ts';
import { ignoreStale, Stale, transact, type Write } from './transact.ts';

/** What an operator has set of an organization; what is absent is as the deployment has it. */
export type OrganizationSettings = {
  /** The model of agents that name none. */
  defaultModel?: string;
};

/** The settings of organizations. Only the command line writes them. */
export function openSettings(table: Table) {
  return {
    /** The settings as they are now. */
    async get(organization: Organization): Promise<OrganizationSettings> {
      const { pk: _, sk: __, ...settings } = (await getItem(table, keys.settings(organization))) ?? {};
      return settings as OrganizationSettings;
    },

    /** Sets the model of agents that name none, or leaves it to the deployment again. */
    async setDefaultModel(organization: Organization, model: string | undefined): Promise<void> {
      const Key = keys.settings(organization);
      await transact(table, [
        model === undefined ? { Delete: { Key } } : { Put: { Item: { ...Key, defaultModel: model } } },
      ]);
    },

    /**
     * Sets another default model if it is still this one.
     *
     * @returns whether it did
     */
    async moveDefaultModel(organization: Organization, { from, to }: { from: string; to: string }): Promise<boolean> {
      const write: Write = {
        Update: {
          Key: keys.settings(organization),
          UpdateExpression: 'SET defaultModel = :to',
          ConditionExpression: 'defaultModel = :from',
          ExpressionAttributeValues: { ':from': from, ':to': to },
          ReturnValues: 'ALL_NEW',
        },
        otherwise: () => new Stale(),
      };
      return (await transact(table, [write]).catch(ignoreStale)) !== undefined;
    },
  };
}

export type Settings = ReturnType<typeof openSettings>;
