import { type PreparedAgent, type PreparingContext, readPreparedAgent } from '../../table/agents/prepared-agents.ts';
import type { RunningExecution } from '../../table/executions/execution-items.ts';
import { readExecutionHead } from '../../table/executions/executions.ts';
import { LeaseLost } from '../../table/executions/lease-writes.ts';

/** The error of an execution whose agent is not active any more. */
export const agentNotActive = 'agent_not_active';

/**
 * Reads an execution and its agent again, for its lease holder. The execution is read first: so the agent is never older
 * than the mark, and a result that the mark allows is one that the agent may make.
 *
 * @throws `LeaseLost` if the lease is lost, or if the agent was deleted
 */
export async function readAgain(
  context: PreparingContext,
  { organization, id, agentId, agentName, claim }: RunningExecution,
): Promise<{ execution: RunningExecution; agent: PreparedAgent }> {
  const head = await readExecutionHead(context, { organization, id });
  if (head?.status !== 'running' || head.claim !== claim) throw new LeaseLost();
  const agent = await readPreparedAgent(context, organization, agentName);
  if (agent?.agent.id !== agentId) throw new LeaseLost();
  return { execution: head as RunningExecution, agent };
}
