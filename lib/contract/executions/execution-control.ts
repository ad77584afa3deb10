import * as v from 'valibot';
import { type ApiReference, endpoint } from '../endpoint.ts';
import * as examples from '../examples.ts';
import { AgentName, described, flag } from '../shapes.ts';
import { Execution, ExecutionId, ExecutionStarted } from './executions.ts';

/** The body of `cancelExecution`. */
export const Cancellation = v.object({
  delegated: v.optional(
    described(flag, 'Whether to cancel the running executions too that it has delegated, directly or in turn.'),
    true,
  ),
});
export type Cancellation = v.InferOutput<typeof Cancellation>;

export const cancelExecution = endpoint({
  method: 'POST',
  path: '/api/agents/:name/executions/:id/cancel',
  scope: 'agents:execute',
  summary: 'Cancel an execution',
  params: { name: AgentName, id: ExecutionId },
  body: Cancellation,
  status: 200,
  data: Execution,
  errors: ['execution_finished'],
});

export const cancelExecutionReference = (): ApiReference<typeof cancelExecution> => ({
  description:
    'Ends a running execution as `failed` with the `error` `cancelled`, whether it waits, a model works on it or its quality gates judge it. Nothing but its tokens changes after the response. Work that is under way stops within 5 seconds; its result is not stored. If the execution is the one that moved its task to `in_progress`, the task moves to `assigned`. Metrics count the execution as failed. `tokensUsed` of the response has the tokens that were stored; the worker adds the others when it stops, within 5 seconds. The same happens to each running execution that it has delegated, before the response, unless `delegated` is `false`. An execution that has ended leads to 409 `execution_finished`: it stays as it is; if it was cancelled, its remaining delegated executions are cancelled first. Publishes `agent.failed` for each cancelled execution.',
  params: { name: examples.systemAgentName, id: examples.executionId },
  body: {},
  data: {
    id: examples.executionId,
    agentName: examples.systemAgentName,
    status: 'failed',
    startedAt: examples.started,
    completedAt: examples.ended,
    durationMs: examples.durationMs,
    input: examples.input,
    tokensUsed: 0,
    model: examples.model,
    qualityGates: { selfTest: 'skipped', qaReview: 'skipped' },
    error: 'cancelled',
  },
});

export const rerunExecution = endpoint({
  method: 'POST',
  path: '/api/agents/:name/executions/:id/rerun',
  scope: 'agents:execute',
  summary: 'Run an execution again',
  params: { name: AgentName, id: ExecutionId },
  status: 200,
  data: ExecutionStarted,
  startsExecution: true,
  errors: ['unknown_reference', 'agent_not_active', 'task_blocked', 'task_claimed'],
});

export const rerunExecutionReference = (): ApiReference<typeof rerunExecution> => ({
  description:
    'Starts a new execution with the input, the context and the task of an execution, and with the current prompt and model of the agent. The other execution stays as it is, and can have any status: one that is still running continues, and keeps its task. The response, the task and the errors are those of `POST /api/agents/{name}/execute`. A task that was deleted leads to `unknown_reference`. Of a delegated execution, the agent reads the same name of the delegating agent, and the rerun continues its chain of delegations. Publishes `agent.spawned`.',
  params: { name: examples.systemAgentName, id: examples.executionId },
  data: {
    executionId: examples.executionId,
    agentName: examples.systemAgentName,
    status: 'running',
    startedAt: examples.started,
  },
});
