import { UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { expect } from 'vitest';
import { processContext } from '../../../lib/context.ts';
import type { Agent, AgentListItem, AssignedSkill } from '../../../lib/contract/agents.ts';
import type { Scope } from '../../../lib/contract/endpoint.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { environment } from '../../../lib/deployment/environment.ts';
import { dataOf, type Request } from '../../api.ts';
import { createCaller } from '../../caller.ts';
import { type Answer, newCaller, openService, type Service } from '../../service.ts';

/** The agent endpoints, as one caller sends to them. */
export type Registry = ReturnType<typeof registryOf>;

/** The model of agents that name none, in these tests. */
export const defaultModel = 'test.default-model';

/** A body that creates an agent: what is required and no more. */
export const newAgent = { name: 'writer', displayName: 'Writer', category: 'business' };

/** The agent of an answer. */
export const agentOf = (answer: Answer): Agent => dataOf<Agent>(answer);

/** The agents of a list's answer. */
export const itemsOf = (answer: Answer): AgentListItem[] => dataOf<AgentListItem[]>(answer);

/** As many answers to the same request as come at once. */
export const atOnce = (count: number, send: (nth: number) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, (_, nth) => send(nth)));

/**
 * Points the handlers of this process at a table of the test file's own. A test file calls it once, before its first
 * request; each `newRegistry` is an organization of its own, with its two system agents. The table's stream is off:
 * nobody here reads it, and the engine's writes take half the time without it.
 */
export async function openRegistries() {
  const service = await openService();
  await service.table.client.send(
    new UpdateTableCommand({ TableName: service.tableName, StreamSpecification: { StreamEnabled: false } }),
  );
  Object.assign(process.env, {
    [environment.tableName]: service.tableName,
    [environment.dynamodbEndpoint]: service.endpoint,
    [environment.defaultModel]: defaultModel,
  });
  return {
    service,
    newRegistry: async (scopes?: readonly Scope[]) => {
      const { organization, token } = await newCaller(processContext(), scopes);
      return registryOf(service, organization, token);
    },
  };
}

function registryOf(service: Service, organization: Organization, token: string) {
  const caller = createCaller(service, organization, token);
  const registry = {
    ...caller,
    list: (query = '', more: Request = {}) => caller.listAgents({ query, ...more }),
    create: (body: unknown = newAgent, more: Request = {}) => caller.createAgent({ body, ...more }),
    get: (name: string, more: Request = {}) => caller.getAgent({ params: { name }, ...more }),
    update: (name: string, body?: unknown, more: Request = {}) =>
      caller.updateAgent({ params: { name }, body, ...more }),
    updateSoul: (name: string, body?: unknown, more: Request = {}) =>
      caller.updateSoul({ params: { name }, body, ...more }),
    delete: (name: string, more: Request = {}) => caller.deleteAgent({ params: { name }, ...more }),
    skills: (name: string, query = '', more: Request = {}) => caller.listSkills({ params: { name }, query, ...more }),
    assign: (name: string, body?: unknown, more: Request = {}) =>
      caller.assignSkill({ params: { name }, body, ...more }),
    unassign: (name: string, skillId: string, more: Request = {}) =>
      caller.unassignSkill({ params: { name, skillId }, ...more }),
    /** The same organization, by another token. */
    by: (other: string) => registryOf(service, organization, other),

    /** Creates an agent and returns its name. */
    put: async (fields: Record<string, unknown> = {}): Promise<string> => {
      const answer = await registry.create({ ...newAgent, ...fields });
      expect(answer.status).toBe(201);
      return agentOf(answer).name;
    },

    /** Gives an agent skills, one after the other. */
    give: async (name: string, ...skillIds: string[]): Promise<void> => {
      for (const skillId of skillIds) expect((await registry.assign(name, { skillId })).status).toBe(201);
    },

    /** The skills that an agent is shown to have. */
    skillsOf: async (name: string): Promise<AssignedSkill[]> => dataOf<AssignedSkill[]>(await registry.skills(name)),
  };
  return registry;
}
