import { hashOf } from '../table/agents/agent-items.ts';
import type { PreparedAgent } from '../table/agents/prepared-agents.ts';
import type { RunningExecution } from '../table/executions/execution-items.ts';

/**
 * Notes in an execution that its model gets the prompt of this version of the agent: the prompt can have changed since the
 * start. The next write of the worker that stores an output, or ends the execution, stores the hash.
 */
export function notePrompt(execution: RunningExecution, { agent }: PreparedAgent): void {
  execution.promptHash = hashOf(agent.systemPrompt);
}
