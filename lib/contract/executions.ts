import * as v from 'valibot';
import { type ApiReference, endpoint } from './endpoint.ts';
import * as examples from './examples.ts';
import { AgentName, count, described, grouped, id, oneOf, pageQuery, Timestamp, text } from './shapes.ts';
import { TaskId } from './tasks.ts';

export const ExecutionId = id('ex', 'an execution');
const DelegationId = id('dl', 'a delegation');

/** Where an execution stands: it runs, or has come to its one end. */
const executionStatuses = ['running', 'completed', 'failed'] as const;
export const ExecutionStatus = oneOf(executionStatuses);
export type ExecutionStatus = v.InferOutput<typeof ExecutionStatus>;

/** What a quality gate says: `pending` while the execution runs, and `skipped` where nobody could judge. */
const GateResult = oneOf(['pending', 'passed', 'failed', 'skipped']);
export type GateResult = v.InferOutput<typeof GateResult>;

export const QualityGates = v.object({
  selfTest: described(GateResult, "What the agent's own model says of its output."),
  qaReview: described(GateResult, "What the organization's qa-reviewer says of it."),
});
export type QualityGates = v.InferOutput<typeof QualityGates>;

/** The most bytes of the JSON text of a context, and its deepest nesting. */
const contextBytes = 64 * 1024;
const contextDepth = 32;

/**
 * Key-values for an execution. Not a `v.record`: that leaves out keys such as `constructor`, and a caller's data is
 * handed on whole.
 */
const Context = v.pipe(
  v.unknown(),
  v.rawCheck(({ dataset, addIssue }) => {
    const message = faultOf(dataset.value);
    if (message) addIssue({ message });
  }),
  // Before the transform, behind which a schema of what is sent does not look.
  v.metadata({
    type: 'object',
    description: `Key-values that the agent is given beside its input: at most ${grouped(contextBytes)} bytes as JSON, nested at most ${contextDepth} deep.`,
  }),
  v.transform((value) => value as Record<string, unknown>),
);

function faultOf(context: unknown): string | undefined {
  if (!isNested(context) || Array.isArray(context)) return 'must be an object';
  if (depthOf(context) > contextDepth) return `must be nested at most ${contextDepth} deep`;
  if (!isWellFormed(context)) return 'must not contain a lone surrogate';
  const bytes = new TextEncoder().encode(JSON.stringify(context)).length;
  if (bytes > contextBytes) return `must have at most ${grouped(contextBytes)} bytes as JSON`;
  return undefined;
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** How deep objects and arrays are nested; level by level, for a body may be nested deeper than a call stack is. */
function depthOf(value: object): number {
  let depth = 0;
  for (let level: object[] = [value]; level.length > 0; depth++)
    level = level.flatMap((one): unknown[] => Object.values(one)).filter(isNested);
  return depth;
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  return !isNested(value) || Object.entries(value).every(([key, one]) => key.isWellFormed() && isWellFormed(one));
}

/** What an agent is to do. */
const input = described(text(1, 100_000), 'What the agent is to do.');

/** The body of `executeAgent`. */
export const NewExecution = v.object({
  input,
  taskId: v.optional(described(TaskId, 'The task that it works on, and that its end moves.')),
  context: v.optional(Context),
});
export type NewExecution = v.InferOutput<typeof NewExecution>;

/** The answer to a start: these four fields only, as specified. */
export const ExecutionStarted = v.object({
  executionId: ExecutionId,
  agentName: AgentName,
  status: ExecutionStatus,
  startedAt: Timestamp,
});
export type ExecutionStarted = v.InferOutput<typeof ExecutionStarted>;

/** An execution as lists show it: these fields only, as specified. */
export const ExecutionListItem = v.object({
  id: ExecutionId,
  agentName: AgentName,
  taskId: v.optional(TaskId),
  status: ExecutionStatus,
  startedAt: Timestamp,
  completedAt: v.optional(described(Timestamp, 'When it ended; absent while it runs.')),
  durationMs: v.optional(described(count, 'Milliseconds from startedAt to completedAt, quality gates included.')),
});
export type ExecutionListItem = v.InferOutput<typeof ExecutionListItem>;

/** An execution as the single read shows it. */
export const Execution = v.object({
  ...ExecutionListItem.entries,
  input: v.string(),
  output: v.optional(described(v.string(), 'The generated text; only of a completed one.')),
  tokensUsed: v.optional(described(count, 'Tokens of all calls to models, quality gates included.')),
  model: v.string(),
  qualityGates: QualityGates,
  error: v.optional(
    described(
      v.string(),
      'Why it failed; only of a failed one. `not_started`: no worker was free within the waiting limit. `deadline`: ten minutes have passed since a worker first took it. `lost`: two workers were lost. Otherwise a sentence.',
    ),
  ),
  delegationId: v.optional(described(DelegationId, 'The delegation that it was started by.')),
});
export type Execution = v.InferOutput<typeof Execution>;

/** The query of both lists of executions: filters in camelCase, as specified. */
const ExecutionQuery = v.object({
  status: v.optional(described(ExecutionStatus, 'Only executions of this status.')),
  agentName: v.optional(described(AgentName, 'Only executions of the agent that has this name now.')),
  ...pageQuery,
});
export type ExecutionFilter = Omit<v.InferOutput<typeof ExecutionQuery>, 'limit' | 'offset'>;

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

const exampleExecution = {
  id: examples.executionId,
  agentName: examples.agentName,
  taskId: examples.taskId,
  status: 'completed',
  startedAt: examples.started,
  completedAt: examples.ended,
  durationMs: examples.durationMs,
} as const;

export const executeAgent = endpoint({
  method: 'POST',
  path: '/api/agents/:name/execute',
  scope: 'agents:execute',
  summary: 'Have an agent do something',
  params: { name: AgentName },
  body: NewExecution,
  status: 200,
  resource: v.object({ ...Execution.entries, ...ExecutionStarted.entries }),
  data: ExecutionStarted,
  startsExecution: true,
  errors: ['unknown_reference', 'agent_not_active', 'task_blocked'],
});

export const executeAgentReference = (): ApiReference<typeof executeAgent> => ({
  description:
    'Answers as soon as the execution is accepted; it runs behind the answer, for ten minutes at most, and its end is in `GET /api/agents/{name}/executions/{id}` and in the events `agent.completed` and `agent.failed`. With a `taskId` the task moves to `in_progress`, and at the end to `up_for_review` (both quality gates passed), `qa_review` (anything else) or `assigned` (failed), unless somebody has moved it meanwhile. A task that waits for others is refused with `task_blocked`. Emits `agent.spawned`.',
  body: { input: examples.input, taskId: examples.taskId, context: { drawing: 'https://example.com/drawing.png' } },
  data: {
    executionId: examples.executionId,
    agentName: examples.agentName,
    status: 'running',
    startedAt: examples.started,
  },
});

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
  errors: [
    'unknown_reference',
    'self_delegation',
    'agent_not_active',
    'task_blocked',
    'delegation_cycle',
    'delegation_too_deep',
  ],
});

export const delegateTaskReference = (): ApiReference<typeof delegateTask> => ({
  description:
    'Starts an execution of `toAgent`, whose `delegationId` names this delegation; the delegating agent needs no status, the other must be `active`. Three delegations in a row are allowed, by what is running on the same task; back to an agent of the chain is refused.',
  body: { toAgent: examples.reviewerName, taskId: examples.taskId, instruction: 'Read the page for mistakes.' },
  data: {
    delegationId: examples.delegationId,
    fromAgent: examples.agentName,
    toAgent: examples.reviewerName,
    status: 'accepted',
  },
});

export const listExecutions = endpoint({
  method: 'GET',
  path: '/api/agents/executions',
  scope: 'agents:read',
  summary: 'List the executions of all agents, newest first',
  query: ExecutionQuery,
  status: 200,
  data: ExecutionListItem,
  paged: true,
});

export const listExecutionsReference = (): ApiReference<typeof listExecutions> => ({
  description:
    'Without inputs and outputs. A start that was answered is always seen, and `pagination.total` is exact at any size.',
  data: [exampleExecution],
});

export const listAgentExecutions = endpoint({
  method: 'GET',
  path: '/api/agents/:name/executions',
  scope: 'agents:read',
  summary: 'List the executions of an agent, newest first',
  params: { name: AgentName },
  query: ExecutionQuery,
  status: 200,
  data: ExecutionListItem,
  paged: true,
});

export const listAgentExecutionsReference = (): ApiReference<typeof listAgentExecutions> => ({
  description: 'Like the list of all; an `agentName` that differs from the path gives an empty page.',
  data: [exampleExecution],
});

export const getExecution = endpoint({
  method: 'GET',
  path: '/api/agents/:name/executions/:id',
  scope: 'agents:read',
  summary: 'Read an execution, its input and its output',
  params: { name: AgentName, id: ExecutionId },
  status: 200,
  data: Execution,
});

export const getExecutionReference = (): ApiReference<typeof getExecution> => ({
  description:
    'While it runs it has no `output`, `tokensUsed`, `completedAt` and `durationMs`, and its quality gates are `pending`. A failed one has an `error` and no output.',
  data: {
    ...exampleExecution,
    input: examples.input,
    output: '<!doctype html>…',
    tokensUsed: examples.tokensUsed,
    model: examples.model,
    qualityGates: { selfTest: 'passed', qaReview: 'passed' },
  },
});
