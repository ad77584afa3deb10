import type { Page } from '../contract/endpoint.ts';
import { notFound } from '../contract/errors.ts';
import type {
  Execution,
  ExecutionFilter,
  ExecutionListItem,
  ExecutionStarted,
  NewExecution,
} from '../contract/executions.ts';
import type { Organization } from '../contract/organization.ts';
import type { AgentHead } from '../table/agent-items.ts';
import { readAgentHead } from '../table/agents.ts';
import type { RunningExecution } from '../table/execution-items.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import { unknownTask } from '../table/task-edges.ts';
import { readTask } from '../table/tasks.ts';
import { openStart, type StartParts } from './start.ts';

const standardCap = 50;

/**
 * Reads how many executions of an organization may run at once; 50 where nothing is said.
 *
 * @throws Error for what is no whole number from 1
 */
export function readRunningCap(text: string | undefined): number {
  if (text === undefined) return standardCap;
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new Error(`RUNNING_CAP is ${JSON.stringify(text)}; set it to a whole number from 1 to 999999.`);
  return Number(text);
}

/** Executions: what callers can do with them. `runs.ts` carries them out. */
export function openExecutions(parts: StartParts) {
  const { store, context } = parts;
  const start = openStart(parts);
  const found = async (organization: Organization, name: string): Promise<AgentHead> => {
    const agent = await readAgentHead(context, organization, name);
    if (!agent) throw notFound();
    return agent;
  };

  return {
    /**
     * Starts an execution: with the answer it is written down, its task has moved, and the stream tells a worker.
     *
     * @throws `ApiError` `not_found`, `unknown_reference`, `agent_not_active`, `task_blocked`, `rate_limited`
     */
    async start(
      organization: Organization,
      name: string,
      { taskId, ...asked }: NewExecution,
      recordResponse: RecordResponse,
    ): Promise<ExecutionStarted> {
      const decide = async () => {
        const [agent, task] = await Promise.all([
          found(organization, name),
          taskId === undefined ? undefined : readTask(context, organization, taskId),
        ]);
        if (taskId !== undefined && !task) throw unknownTask(taskId, 'taskId');
        return { agent, asked, task };
      };
      const answerOf = ({ id, agentName, status, startedAt }: RunningExecution) => ({
        executionId: id,
        agentName,
        status,
        startedAt,
      });
      return answerOf(
        await start(organization, decide, (execution) => recordResponse && (() => recordResponse(answerOf(execution)))),
      );
    },

    /** A page of the executions of all agents, newest first, with the exact total of the filter. */
    async list(
      organization: Organization,
      { agentName, status }: ExecutionFilter,
      page: { limit: number; offset: number },
    ): Promise<Page<ExecutionListItem>> {
      if (agentName === undefined) return store.list(organization, { status }, page);
      const agent = await readAgentHead(context, organization, agentName);
      if (!agent) return { items: [], total: 0 };
      return store.list(organization, { agentId: agent.id, status }, page);
    },

    /**
     * A page of the executions of an agent, newest first, with the exact total of the filter.
     *
     * @throws `ApiError` `not_found` for an agent that there is not
     */
    async listOf(
      organization: Organization,
      name: string,
      { agentName = name, status }: ExecutionFilter,
      page: { limit: number; offset: number },
    ): Promise<Page<ExecutionListItem>> {
      const agent = await found(organization, name);
      if (agentName !== name) return { items: [], total: 0 };
      return store.list(organization, { agentId: agent.id, status }, page);
    },

    /**
     * An execution of an agent, as it is now.
     *
     * @throws `ApiError` `not_found` for an agent that there is not, or that has no such execution
     */
    async get(organization: Organization, name: string, id: string): Promise<Execution> {
      const [agent, execution] = await Promise.all([found(organization, name), store.get({ organization, id })]);
      if (execution?.agentId !== agent.id) throw notFound();
      return execution;
    },
  };
}
