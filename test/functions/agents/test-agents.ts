import { expect } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import type { Agent, AgentListItem, AssignedSkill } from '../../../lib/contract/agents/agents.ts';
import type { Scope } from '../../../lib/contract/endpoint.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { environment } from '../../../lib/names/environment.ts';
import { dataOf, type Request } from '../../api.ts';
import { createCaller } from '../../caller.ts';
import { type Answer, newCaller, openService, pointFunctionsAt, type Service } from '../../service.ts';

/** The agent endpoints, called with one token. */
export type AgentsApi = ReturnType<typeof agentsApiOf>;

/** The default model in these tests. */
export const defaultModel = 'test.default-model';

/** A body that creates an agent, with only the required fields. */
export const newAgent = { name: 'writer', displayName: 'Writer', category: 'business' };

/** Returns the agent in a response. */
export const agentOf = (answer: Answer): Agent => dataOf<Agent>(answer);

/** Returns the agents in the response to a list. */
export const itemsOf = (answer: Answer): AgentListItem[] => dataOf<AgentListItem[]>(answer);

/** Sends this number of requests concurrently and returns the responses. */
export const sendConcurrently = (count: number, send: (nth: number) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(Array.from({ length: count }, (_, nth) => send(nth)));

/**
 * Creates a table for the test file and configures the handlers of this process to use it. A test file calls this
 * once, before its first request. Each `newAgentsApi` creates an organization with its two system agents. The stream of
 * the table is disabled: these tests do not read it, and writes take half the time without it.
 *
 * @param more further environment variables
 */
export async function createTestAgents(more: Record<string, string> = {}) {
  const service = await openService();
  pointFunctionsAt(service, { [environment.defaultModel]: defaultModel, ...more });
  return {
    service,
    newAgentsApi: async (scopes?: readonly Scope[]) => {
      const { organization, token } = await newCaller(processContext(), scopes);
      return agentsApiOf(service, organization, token);
    },
  };
}

function agentsApiOf(service: Service, organization: Organization, token: string) {
  const caller = createCaller(service, organization, token);
  const api = {
    ...caller,
    list: (query = '', more: Request = {}) => caller.listAgents({ query, ...more }),
    create: (body: unknown = newAgent, more: Request = {}) => caller.createAgent({ body, ...more }),
    get: (name: string, more: Request = {}) => caller.getAgent({ params: { name }, ...more }),
    update: (name: string, body?: unknown, more: Request = {}) =>
      caller.updateAgent({ params: { name }, body, ...more }),
    setSoul: (name: string, body?: unknown, more: Request = {}) =>
      caller.updateSoul({ params: { name }, body, ...more }),
    delete: (name: string, more: Request = {}) => caller.deleteAgent({ params: { name }, ...more }),
    skills: (name: string, query = '', more: Request = {}) => caller.listSkills({ params: { name }, query, ...more }),
    assign: (name: string, body?: unknown, more: Request = {}) =>
      caller.assignSkill({ params: { name }, body, ...more }),
    unassign: (name: string, skillId: string, more: Request = {}) =>
      caller.unassignSkill({ params: { name, skillId }, ...more }),
    /** Returns the endpoints of the same organization, called with another token. */
    by: (other: string) => agentsApiOf(service, organization, other),

    /** Creates an agent and returns its name. */
    put: async (fields: Record<string, unknown> = {}): Promise<string> => {
      const answer = await api.create({ ...newAgent, ...fields });
      expect(answer.status).toBe(201);
      return agentOf(answer).name;
    },

    /** Assigns skills to an agent, one after the other. */
    give: async (name: string, ...skillIds: string[]): Promise<void> => {
      for (const skillId of skillIds) expect((await api.assign(name, { skillId })).status).toBe(201);
    },

    /** Returns the skills of an agent as the API returns them. */
    skillsOf: async (name: string): Promise<AssignedSkill[]> => dataOf<AssignedSkill[]>(await api.skills(name)),
  };
  return api;
}
