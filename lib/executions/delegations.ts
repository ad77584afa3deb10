import { ApiError, notFound } from '../contract/errors.ts';
import type { Delegation, NewDelegation } from '../contract/executions.ts';
import type { Organization } from '../contract/organization.ts';
import type { AgentHead } from '../table/agent-items.ts';
import { readAgentHead, unknownAgent } from '../table/agents.ts';
import type { ExecutionHead } from '../table/execution-items.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import { unknownTask } from '../table/task-edges.ts';
import { readTask } from '../table/tasks.ts';
import { merged } from '../table/transact.ts';
import { openStart, type StartParts } from './start.ts';

/** The longest chain of delegations (docs/architecture.md#delegations). */
const deepest = 3;

/** Delegations: an agent hands something on to another, which starts to work on it. */
export function openDelegations(parts: StartParts) {
  const { store, ulid } = parts;
  const start = openStart(parts);

  return {
    /**
     * Hands something on. The chain that this belongs to is known by the executions of the handing agent that run on the
     * same task now; without one it begins here.
     *
     * @throws `ApiError` `not_found` for the handing agent; `unknown_reference`, `self_delegation`, `agent_not_active`,
     *   `task_blocked`, `delegation_cycle`, `delegation_too_deep`, `rate_limited`
     */
    async delegate(
      organization: Organization,
      name: string,
      { toAgent, taskId, instruction, context }: NewDelegation,
      recordResponse: RecordResponse,
    ): Promise<Delegation> {
      const answer: Delegation = { delegationId: `dl_${ulid()}`, fromAgent: name, toAgent, status: 'accepted' };
      const decide = async () => {
        const [from, to, task] = await Promise.all([
          readAgentHead(parts.context, organization, name),
          readAgentHead(parts.context, organization, toAgent),
          taskId === undefined ? undefined : readTask(parts.context, organization, taskId),
        ]);
        if (!from) throw notFound();
        const unknown = [
          ...(to ? [] : [unknownAgent(toAgent, 'toAgent')]),
          ...(taskId !== undefined && !task ? [unknownTask(taskId, 'taskId')] : []),
        ];
        if (!to || unknown.length > 0) throw merged(unknown);
        if (to.id === from.id) throw toItself(name);
        const chain = chainOf(from, await store.runningOn(organization, from.id, taskId));
        rejectLongChain(to, chain);
        const delegated = { delegationId: answer.delegationId, delegatedBy: name, ...chain };
        return { agent: to, asked: { input: instruction, ...(context && { context }) }, task, delegated };
      };
      await start(organization, decide, () => recordResponse && (() => recordResponse(answer)));
      return answer;
    },

    /** A delegation and where it stands; `undefined` where there is none. */
    get: (organization: Organization, id: string): Promise<Delegation | undefined> =>
      store.delegation(organization, id),
  };
}

/** The chain that something handed on is in: who has had it, and how often it was handed on. */
type Chain = { ancestors: string[]; depth: number };

/**
 * The chain that goes on from an agent. It may be at work in several at once, and which of them hands on is not said:
 * whoever is in any of them may not be given it again, and the longest counts.
 */
function chainOf(from: AgentHead, running: readonly ExecutionHead[]): Chain {
  const before = running.flatMap(({ ancestors = [] }) => ancestors);
  const depth = Math.max(0, ...running.map((execution) => execution.depth ?? 0));
  return { ancestors: [...new Set([...before, from.id])], depth: depth + 1 };
}

function rejectLongChain(to: AgentHead, { ancestors, depth }: Chain): void {
  if (ancestors.includes(to.id))
    throw new ApiError('delegation_cycle', `${to.name} has handed this on already; it cannot be given it again.`, [
      { path: 'toAgent', code: 'cycle', message: `${to.name} is in this chain of delegations already.` },
    ]);
  if (depth > deepest)
    throw new ApiError('delegation_too_deep', `This was handed on ${deepest} times already; it can be no more.`, [
      { path: 'toAgent', code: 'limit', message: `At most ${deepest} delegations may follow one another.` },
    ]);
}

function toItself(name: string): ApiError {
  return new ApiError('self_delegation', `${name} cannot hand something on to itself; execute it instead.`, [
    { path: 'toAgent', code: 'invalid_value', message: `toAgent must be another agent than ${name}` },
  ]);
}
