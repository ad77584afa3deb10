import * as v from 'valibot';
import { endpoint } from './endpoint.ts';
import { Context, DelegationId, input } from './executions.ts';
import { AgentName, described, oneOf } from './shapes.ts';
import { TaskId } from './tasks.ts';

/** Where a delegation stands: taken on, worked on, or at its end. */
export const DelegationStatus = oneOf(['accepted', 'running', 'completed', 'failed']);

/** The body of `delegateTask`. The instruction is the other agent's input, verbatim. */
export const NewDelegation = v.object({
  toAgent: described(AgentName, 'Name of the agent that is to do it.'),
  taskId: v.optional(described(TaskId, 'The task that it is about.')),
  instruction: described(input, "The other agent's input, verbatim."),
  context: v.optional(Context),
});
export type NewDelegation = v.InferOutput<typeof NewDelegation>;

/** A delegation as the answer to its start shows it: these four fields, as specified. */
export const Delegation = v.object({
  delegationId: DelegationId,
  fromAgent: AgentName,
  toAgent: AgentName,
  status: DelegationStatus,
});
export type Delegation = v.InferOutput<typeof Delegation>;

export const delegateTask = endpoint({
  method: 'POST',
  path: '/api/agents/:name/delegate',
  scope: 'agents:execute',
  summary: 'Have an agent hand something on to another',
  params: { name: AgentName },
  body: NewDelegation,
  status: 200,
  data: Delegation,
  startsExecution: true,
  refuses: [
    'unknown_reference',
    'self_delegation',
    'agent_not_active',
    'task_blocked',
    'delegation_cycle',
    'delegation_too_deep',
  ],
});
