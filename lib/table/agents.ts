import type { Organization } from '../contract/organization.ts';
import { Refusal } from '../contract/refusals.ts';
import type { Table } from './client.ts';
import { keys } from './keys.ts';
import { Stale, transact, type Write } from './transact.ts';

/** An agent as it is stored. Its id's ULID keys what belongs to it, so that a namesake never sees its history. */
export type StoredAgent = {
  id: string;
  name: string;
  displayName: string;
  description: string;
  category: string;
  status: string;
  isSystem: boolean;
  version: number;
  updatedAt: string;
};

/** The agents of organizations: what there is of them so far, to be named by tasks. */
export function openAgents(table: Table) {
  return {
    /** Puts the agents that an organization starts with; those that it has already are left as they are. */
    async provision(organization: Organization, agents: readonly StoredAgent[]): Promise<void> {
      for (const agent of agents) {
        const write: Write = {
          Put: {
            Item: { ...keys.agent(organization, agent.name), kind: 'agent', ...agent },
            ConditionExpression: 'attribute_not_exists(pk)',
          },
          otherwise: () => new Stale(),
        };
        await transact(table, [write]).catch((error: unknown) => {
          if (!(error instanceof Stale)) throw error;
        });
      }
    },
  };
}

/** The refusal of an agent that does not exist, named in the field `path`. */
export function unknownAgent(name: string, path: string): Refusal {
  return new Refusal('unknown_reference', 'The request names something that does not exist.', [
    { path, code: 'not_found', message: `There is no agent named ${name}.` },
  ]);
}
