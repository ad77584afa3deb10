import { ApiError } from '../contract/errors.ts';
import { timeOf, timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { AgentHead } from '../table/agent-items.ts';
import type { AgentContext } from '../table/agents.ts';
import { graceMs } from '../table/due.ts';
import type { Asked, ExecutionHead, RunningExecution } from '../table/execution-items.ts';
import type { ExecutionStore } from '../table/executions.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import type { StoredTask } from '../table/task-items.ts';
import { readTasks } from '../table/tasks.ts';
import { retryOnConflict } from '../table/transact.ts';
import { rejectWhileBlocked, taken } from './task-moves.ts';

/** What starts are made of. */
export type StartParts = { store: ExecutionStore; context: AgentContext; ulid: () => string; clock: () => number };

/** Who is to do what, as it was found to be a moment ago. */
export type Order = {
  agent: AgentHead;
  asked: Asked;
  task: StoredTask | undefined;
  /** What a delegation says of itself on the execution. */
  delegated?: Pick<ExecutionHead, 'delegationId' | 'delegatedBy' | 'ancestors' | 'depth'>;
};

/**
 * Opens what starts executions, be they asked for or handed on: with the answer an execution is written down, its task
 * has moved, and the stream tells a worker.
 *
 * @param decide reads what is asked of whom, and refuses it; called again where that has changed meanwhile
 * @throws `ApiError` `agent_not_active`, `task_blocked`, `rate_limited`, and what `decide` throws
 */
export function openStart({ store, context, ulid, clock }: StartParts) {
  return async (
    organization: Organization,
    decide: () => Promise<Order>,
    recordResponse: (execution: RunningExecution) => RecordResponse,
  ): Promise<RunningExecution> => {
    const ulidOfStart = ulid();
    const startedAt = timestamp(timeOf(ulidOfStart));
    const dueAt = timestamp(timeOf(ulidOfStart) + graceMs);
    return retryOnConflict(store.table, async () => {
      const { agent, asked, task, delegated } = await decide();
      if (agent.status !== 'active') throw notActive(agent);
      const execution: RunningExecution = {
        organization,
        id: `ex_${ulidOfStart}`,
        agentId: agent.id,
        agentName: agent.name,
        ...(task && { taskId: task.id }),
        status: 'running',
        startedAt,
        model: agent.model,
        selfTest: 'pending',
        qaReview: 'pending',
        claims: 0,
        ...delegated,
      };
      const move = task && (await moveOf(task, execution));
      await store.start(execution, asked, { dueAt, task: move, recordResponse: recordResponse(execution) });
      return execution;
    });
  };

  /** What becomes of the task with the start; a task that is blocked is refused. */
  async function moveOf(task: StoredTask, execution: RunningExecution) {
    const { organization } = execution;
    const [dependencies, owner] = await Promise.all([
      readTasks(context, organization, task.dependsOn),
      task.owner === undefined ? undefined : store.head({ organization, id: task.owner }),
    ]);
    rejectWhileBlocked(dependencies);
    return taken(task, execution, owner?.status === 'running', timestamp(clock()));
  }
}

function notActive({ name, status }: AgentHead): ApiError {
  return new ApiError('agent_not_active', `${name} is ${status}; set its status to active first.`);
}
