import { expect } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import type { Scope } from '../../../lib/contract/endpoint.ts';
import type {
  Delegation,
  Execution,
  ExecutionListItem,
  ExecutionStarted,
} from '../../../lib/contract/executions/executions.ts';
import { runExecution } from '../../../lib/executions/run/run-execution.ts';
import type { Model } from '../../../lib/model/converse.ts';
import { callAgentTool, grantedTools } from '../../../lib/tools/agent-tools.ts';
import { dataOf, paginationOf, type Request } from '../../api.ts';
import type { Answer, Service } from '../../service.ts';
import { type AgentsApi, createTestAgents } from '../agents/test-agents.ts';
import { taskCallerOf } from '../kanban-tasks/task-caller.ts';

/** The agents, tasks and execution endpoints of an organization, called with one token. */
export type ExecutionsApi = Awaited<ReturnType<Awaited<ReturnType<typeof createTestExecutions>>['newExecutionsApi']>>;

/** A body that starts an execution, with only the required fields. */
export const newExecution = { input: 'Write a haiku.' };

/** A body that delegates to `reader`, with only the required fields. */
export const newDelegation = { toAgent: 'reader', instruction: 'Read it aloud.' };

/** Returns a model that answers with `text` and passes both quality gates. */
export const passing =
  (text = 'Done.'): Model =>
  async ({ user }) => ({ kind: 'text', text: user.includes(text) ? 'VERDICT: PASS' : text, tokens: 10 });

/** Returns the data of the response to a start. */
export const startedOf = (answer: Answer): ExecutionStarted => dataOf<ExecutionStarted>(answer);

/** Returns the data of the response to a delegation. */
export const delegationOf = (answer: Answer): Delegation => dataOf<Delegation>(answer);

/** Returns ids in the order of a list, also ids of the same millisecond, whose order is random. */
export const newestFirst = (...ids: string[]): string[] => ids.sort().reverse();

/** Returns the ids of the executions in the response to a list, and the total. */
export const listed = (answer: Answer): [string[], number] => [
  dataOf<ExecutionListItem[]>(answer).map(({ id }) => id),
  paginationOf(answer).total,
];

/**
 * Creates a table for the test file and configures the handlers of this process to use it. A test file calls this
 * once, before its first request. Each `newExecutionsApi` creates an organization with an active agent `writer`.
 *
 * @param more further environment variables
 */
export async function createTestExecutions(more: Record<string, string> = {}) {
  const { service, newAgentsApi } = await createTestAgents(more);
  return {
    service,
    newExecutionsApi: async (scopes?: readonly Scope[]) => {
      const agents = await newAgentsApi(scopes);
      if (!scopes) await agents.put();
      return executionsApiOf(service, agents);
    },
  };
}

function executionsApiOf(service: Service, agents: AgentsApi) {
  const { organization, token } = agents;
  const api = {
    organization,
    token,
    agents,
    tasks: taskCallerOf(service, organization, token),
    refuses: agents.refuses,
    dump: agents.dump,
    execute: (body: unknown = newExecution, { name = 'writer', ...more }: Request & { name?: string } = {}) =>
      agents.executeAgent({ params: { name }, body, ...more }),
    delegate: (body: unknown = newDelegation, { name = 'writer', ...more }: Request & { name?: string } = {}) =>
      agents.delegateTask({ params: { name }, body, ...more }),
    list: (query = '', more: Request = {}) => agents.listExecutions({ query, ...more }),
    listOf: (name: string, query = '', more: Request = {}) =>
      agents.listAgentExecutions({ params: { name }, query, ...more }),
    get: (name: string, id: string, more: Request = {}) => agents.getExecution({ params: { name, id }, ...more }),

    /** Starts an execution and returns its id. */
    start: async (fields: Record<string, unknown> = {}, name = 'writer'): Promise<string> => {
      const answer = await api.execute({ ...newExecution, ...fields }, { name });
      expect(answer.status).toBe(200);
      return startedOf(answer).executionId;
    },

    /** Delegates from an agent to another, and returns the execution that this starts. */
    startDelegated: async (from: string, toAgent: string, fields: Record<string, unknown> = {}): Promise<Execution> => {
      const answer = await api.delegate({ ...newDelegation, toAgent, ...fields }, { name: from });
      expect(answer.status).toBe(200);
      const { delegationId } = delegationOf(answer);
      const [ids] = listed(await api.listOf(toAgent));
      const executions = await Promise.all(ids.map((id) => api.execution(id, toAgent)));
      return executions.find((one) => one.delegationId === delegationId) as Execution;
    },

    /** Carries out an execution as a worker does. */
    carryOut: (executionId: string, model: Model = passing()) =>
      runExecution(
        processContext(),
        { organization, executionId },
        { model, catalogue: [], agentTools: { grantedTools, callTool: callAgentTool } },
      ),

    /** Returns an execution as the API returns it. */
    execution: async (id: string, name = 'writer'): Promise<Execution> => dataOf<Execution>(await api.get(name, id)),
  };
  return api;
}
