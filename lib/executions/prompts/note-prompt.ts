import { hashOf } from '../../table/agents/agent-items.ts';
import type { PreparedAgent } from '../../table/agents/prepared-agents.ts';
import type { RunningExecution } from '../../table/executions/execution-items.ts';
import type { Noted } from '../../table/executions/received.ts';
import { partOf } from './step-messages.ts';

/**
 * Notes in an execution that its model gets the prompt of this version of the agent: the prompt can have changed since the
 * start. The next write of the worker that stores an output, or ends the execution, stores the hash.
 */
export function notePrompt(execution: RunningExecution, { agent }: PreparedAgent): void {
  execution.promptHash = hashOf(agent.systemPrompt);
}

/**
 * Notes in an execution what its models get from this worker, for `GET …/steps?include=messages`. The next write of the
 * worker stores it, unless an earlier worker gave the same.
 *
 * @param earlier what the last worker that stored it gave to models
 * @param reviewer the agent that judges the output, if there is one
 * @param parts the parts of the user prompt that can have changed since
 */
export function noteReceived(
  execution: RunningExecution,
  earlier: Noted | undefined,
  { agent, reviewer, parts }: { agent: PreparedAgent; reviewer: PreparedAgent | undefined; parts: readonly string[] },
): void {
  const received = {
    promptHash: hashOf(agent.agent.systemPrompt),
    ...(reviewer && { reviewerHash: hashOf(reviewer.agent.systemPrompt) }),
    parts: parts.map(partOf),
  };
  const isSame = JSON.stringify(received) === JSON.stringify(earlier?.received);
  execution.noted = isSame ? (earlier as Noted) : { number: (execution.received ?? 0) + 1, received };
}
