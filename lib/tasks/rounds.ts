import type { AgentHead } from '../table/agents/agent-items.ts';
import type { StoredTask } from '../table/tasks/task-items.ts';
import { isOpenTask } from './claim-decisions.ts';
import { isAssignedTo } from './decisions.ts';

/**
 * A round of a task begins when a caller creates it, moves it to `backlog` or `assigned`, or assigns another agent. In a round, the
 * service starts at most `1 + autoRetry` executions by itself. What an execution creates or assigns begins no round: it carries the
 * chain of the agents that led to it, so that agents cannot give work to each other for ever.
 */

/** The longest chain of agents after which the service still starts one. */
const longestChain = 3;

/** The number of executions that the service has started after which it starts no further one, whatever `autoRetry` is. */
export const mostAutoRuns = 4;

/** The agents in whose executions a task comes to its agent, and whether the last of them may delegate. */
export type Handover = { chain: string[]; mayDelegate: boolean };

/** Returns the task at the beginning of a round. */
function newRound(task: StoredTask): StoredTask {
  const { autoRuns, autoRunFailure, chain, noDelegate, ...rest } = task;
  return rest;
}

/** Returns a task that an execution has created or assigned. */
export function handedOver(task: StoredTask, { chain, mayDelegate }: Handover): StoredTask {
  return { ...newRound(task), chain, ...(!mayDelegate && { noDelegate: true as const }) };
}

/**
 * Returns a task after a change, with what the change means for its round.
 *
 * @param handover of the execution that makes the change; `undefined` for a caller
 */
export function inRound(before: StoredTask, after: StoredTask, handover: Handover | undefined): StoredTask {
  const isAssigned = after.assignedAgent !== undefined && after.assignedAgentId !== before.assignedAgentId;
  if (handover) return isAssigned ? handedOver(after, handover) : after;
  return isAssigned || (after.status !== before.status && isOpenTask(after)) ? newRound(after) : after;
}

/** Why the service does not start a ready task of an agent by itself. */
export type Hindrance =
  | { state: 'held'; reason: 'chain' | 'no_delegate' }
  | { state: 'stopped'; executionId?: string; error?: string };

/** Returns why the service does not start a task by itself for an agent, apart from dependencies, claims and limits. */
export function hindranceOf(
  task: StoredTask,
  { id, autoRetry }: Pick<AgentHead, 'id' | 'autoRetry'>,
): Hindrance | undefined {
  const { chain = [], noDelegate, autoRuns = 0, autoRunFailure } = task;
  if (noDelegate) return { state: 'held', reason: 'no_delegate' };
  if (chain.includes(id) || chain.length >= longestChain) return { state: 'held', reason: 'chain' };
  return autoRuns > autoRetry ? { state: 'stopped', ...autoRunFailure } : undefined;
}

/** Returns whether the service starts a ready task for an agent. */
export function startsByItself(task: StoredTask, agent: Pick<AgentHead, 'id' | 'name' | 'autoRetry'>): boolean {
  return isAssignedTo(task, agent) && hindranceOf(task, agent) === undefined;
}
