import { UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { expect } from 'vitest';
import { handler as assignSkill } from '../../../functions/agents/assign-skill.ts';
import { handler as createAgent } from '../../../functions/agents/create-agent.ts';
import { handler as deleteAgent } from '../../../functions/agents/delete-agent.ts';
import { handler as getAgent } from '../../../functions/agents/get-agent.ts';
import { handler as listAgents } from '../../../functions/agents/list-agents.ts';
import { handler as listSkills } from '../../../functions/agents/list-skills.ts';
import { handler as unassignSkill } from '../../../functions/agents/unassign-skill.ts';
import { handler as updateAgent } from '../../../functions/agents/update-agent.ts';
import { handler as updateSoul } from '../../../functions/agents/update-soul.ts';
import { app } from '../../../lib/app.ts';
import type { Agent, AgentListItem, AssignedSkill } from '../../../lib/contract/agents.ts';
import type { Scope } from '../../../lib/contract/endpoint.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { environment } from '../../../lib/deployment/environment.ts';
import { dataOf } from '../../api.ts';
import { createCaller } from '../../caller.ts';
import { type Answer, call, newCaller, openService, type Sent, type Service } from '../../service.ts';

/** The agent endpoints, as one caller sends to them. */
export type Registry = ReturnType<typeof registryOf>;

const path = '/api/agents';

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
      const { organization, token } = await newCaller(app(), scopes);
      return registryOf(service, organization, token);
    },
  };
}

function registryOf(service: Service, organization: Organization, token: string) {
  const at = (name: string, below = '') => ({ path: `${path}/${name}${below}`, params: { name } });
  const registry = {
    ...createCaller(service, organization, token),
    list: (query = '', more: Sent = {}) => call(listAgents, { path, query, token, ...more }),
    create: (body: unknown = newAgent, more: Sent = {}) =>
      call(createAgent, { method: 'POST', path, body, token, ...more }),
    get: (name: string, more: Sent = {}) => call(getAgent, { ...at(name), token, ...more }),
    update: (name: string, body?: unknown, more: Sent = {}) =>
      call(updateAgent, { method: 'PATCH', ...at(name), body, token, ...more }),
    updateSoul: (name: string, body?: unknown, more: Sent = {}) =>
      call(updateSoul, { method: 'PATCH', ...at(name, '/soul'), body, token, ...more }),
    delete: (name: string, more: Sent = {}) => call(deleteAgent, { method: 'DELETE', ...at(name), token, ...more }),
    skills: (name: string, query = '', more: Sent = {}) =>
      call(listSkills, { ...at(name, '/skills'), query, token, ...more }),
    assign: (name: string, body?: unknown, more: Sent = {}) =>
      call(assignSkill, { method: 'POST', ...at(name, '/skills'), body, token, ...more }),
    unassign: (name: string, skillId: string, more: Sent = {}) =>
      call(unassignSkill, {
        method: 'DELETE',
        path: `${path}/${name}/skills/${skillId}`,
        params: { name, skillId },
        token,
        ...more,
      }),
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
