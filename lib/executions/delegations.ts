import type { Context } from '../context/context.ts';
import { ApiError, notFound } from '../contract/errors.ts';
import type { Delegation, NewDelegation } from '../contract/executions/executions.ts';
import type { Organization } from '../contract/organization.ts';
import { merged } from '../table/access/transact.ts';
import type { AgentHead } from '../table/agents/agent-items.ts';
import { readAgentHead, unknownAgent } from '../table/agents/agents.ts';
import type { ExecutionHead } from '../table/executions/execution-items.ts';
import { readRunningExecutions } from '../table/executions/running-executions.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import { unknownTask } from '../table/tasks/task-edges.ts';
import type { StoredTask } from '../table/tasks/task-items.ts';
import { readTask } from '../table/tasks/tasks.ts';
import { startExecution } from './start-execution.ts';

/** The longest chain of delegations (docs/architecture.md#delegations). */
const longestChain = 3;

/** The execution in which an agent delegates. */
export type DelegatingExecution = {
  execution: ExecutionHead;
  /**
   * Checks whether the agent may delegate a task; called again after a conflict.
   *
   * @throws `ApiError`
   */
  authorize: (task: StoredTask) => void;
};

/**
 * Starts an execution of another agent. If an execution delegates, the new one continues its chain of delegations. A
 * request does not name an execution: then the executions of the delegating agent that are running on the same task now
 * decide which chain this one continues; without such an execution a new chain begins.
 *
 * @param name the delegating agent
 * @param delegating the execution that delegates; `undefined` for a request
 * @throws `ApiError` `not_found` for the delegating agent; `unknown_reference`, `self_delegation`, `agent_not_active`,
 *   `task_blocked`, `delegation_cycle`, `delegation_too_deep`, `rate_limited`, and the errors of `authorize`
 */
export async function delegateTask(
  context: Context,
  organization: Organization,
  name: string,
  { toAgent, taskId, instruction, context: keyValues }: NewDelegation,
  recordResponse: RecordResponse,
  delegating?: DelegatingExecution,
): Promise<Delegation> {
  const delegation: Delegation = {
    delegationId: `dl_${context.ulid()}`,
    fromAgent: name,
    toAgent,
    status: 'accepted',
  };
  const decide = async () => {
    const [from, to, task] = await Promise.all([
      readAgentHead(context, organization, name),
      readAgentHead(context, organization, toAgent),
      taskId === undefined ? undefined : readTask(context, organization, taskId),
    ]);
    if (!from || (delegating && from.id !== delegating.execution.agentId)) throw notFound('agent');
    const unknown = [
      ...(to ? [] : [unknownAgent(toAgent, 'toAgent')]),
      ...(taskId !== undefined && !task ? [unknownTask(taskId, 'taskId')] : []),
    ];
    if (!to || unknown.length > 0) throw merged(unknown);
    if (to.id === from.id) throw selfDelegation(name);
    if (task) delegating?.authorize(task);
    const chain = chainOf(
      from,
      delegating ? [delegating.execution] : await readRunningExecutions(context, organization, from.id, taskId),
    );
    rejectLongChain(to, chain);
    const delegated = {
      ...{ delegationId: delegation.delegationId, delegatedBy: name, ...chain },
      ...(delegating && { delegatedIn: [...(delegating.execution.delegatedIn ?? []), delegating.execution.id] }),
    };
    return { agent: to, input: { input: instruction, ...(keyValues && { context: keyValues }) }, task, delegated };
  };
  await startExecution(context, organization, decide, () => recordResponse && (() => recordResponse(delegation)));
  return delegation;
}

/** A chain of delegations: the ids of its agents, and the number of its delegations. */
type Chain = { ancestors: string[]; depth: number };

/**
 * Returns the chain that a delegation by an agent continues. The agent may have several running executions, and a request
 * does not name one of them: no agent of any of their chains may be delegated to, and the longest chain counts.
 */
function chainOf(from: AgentHead, running: readonly ExecutionHead[]): Chain {
  const before = running.flatMap(({ ancestors = [] }) => ancestors);
  const depth = Math.max(0, ...running.map((execution) => execution.depth ?? 0));
  return { ancestors: [...new Set([...before, from.id])], depth: depth + 1 };
}

function rejectLongChain(to: AgentHead, { ancestors, depth }: Chain): void {
  if (ancestors.includes(to.id))
    throw new ApiError('delegation_cycle', `${to.name} has delegated this already; delegate it to another agent.`, [
      { path: 'toAgent', code: 'cycle', message: `${to.name} is in this chain of delegations.` },
    ]);
  if (depth > longestChain)
    throw new ApiError(
      'delegation_too_deep',
      `This was delegated ${longestChain} times; execute an agent directly instead.`,
      [{ path: 'toAgent', code: 'limit', message: `A chain may have ${longestChain} delegations.` }],
    );
}

function selfDelegation(name: string): ApiError {
  return new ApiError('self_delegation', `${name} cannot delegate to itself; execute it instead.`, [
    { path: 'toAgent', code: 'invalid_value', message: `toAgent must be another agent than ${name}` },
  ]);
}
