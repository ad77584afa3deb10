import * as v from 'valibot';
import { isDeeper, isNested, maxDepth } from '../depth.ts';
import { type ApiReference, endpoint } from '../endpoint.ts';
import * as examples from '../examples.ts';
import {
  AgentName,
  characterError,
  count,
  described,
  grouped,
  id,
  oneOf,
  PromptHash,
  pageQuery,
  someOf,
  Timestamp,
  text,
} from '../shapes.ts';
import { TaskId } from '../tasks/tasks.ts';
import { GateReasons, noVerdict, QualityGates } from './quality-gates.ts';

export const ExecutionId = id('ex', 'an execution');
const DelegationId = id('dl', 'a delegation');

/** The statuses of an execution: `running`, then one of the two final statuses. */
const executionStatuses = ['running', 'completed', 'failed'] as const;
export const ExecutionStatus = oneOf(executionStatuses);
export type ExecutionStatus = v.InferOutput<typeof ExecutionStatus>;

/** The maximum size of a context as JSON, in bytes. */
const contextBytes = 64 * 1024;

/**
 * Key-values for an execution. This is not a `v.record`, which drops keys such as `constructor`: the agent gets the
 * caller's data unchanged.
 */
const Context = v.pipe(
  v.unknown(),
  v.rawCheck(({ dataset, addIssue }) => {
    const message = errorOf(dataset.value);
    if (message) addIssue({ message });
  }),
  // Stands before the transform: the JSON Schema of the input ignores metadata after it.
  v.metadata({
    type: 'object',
    description: `Key-values that the agent gets with its input: at most ${grouped(contextBytes)} bytes as JSON, nested at most ${maxDepth} levels deep. A whole number beyond ±9,007,199,254,740,991, and a number too large for JSON, is rejected; send it as a string.`,
  }),
  v.transform((value) => value as Record<string, unknown>),
);

/** Returns the error message for an invalid context. */
function errorOf(context: unknown): string | undefined {
  if (!isNested(context) || Array.isArray(context)) return 'must be an object';
  if (isDeeper(context, maxDepth)) return `must be nested at most ${maxDepth} levels deep`;
  const wrong = textErrorIn(context);
  if (wrong) return wrong;
  const bytes = new TextEncoder().encode(JSON.stringify(context)).length;
  if (bytes > contextBytes) return `must have at most ${grouped(contextBytes)} bytes as JSON`;
  return undefined;
}

/** Returns the error message for the first text in a context, or name of a member, that no request may have. */
function textErrorIn(value: unknown): string | undefined {
  if (typeof value === 'string') return characterError(value);
  if (!isNested(value)) return undefined;
  for (const [name, one] of Object.entries(value)) {
    const message = characterError(name) ?? textErrorIn(one);
    if (message) return message;
  }
  return undefined;
}

const input = described(text(1, 100_000), 'The instruction for the agent.');

/** The body of `executeAgent`. */
export const NewExecution = v.object({
  input,
  taskId: v.optional(described(TaskId, 'The task to work on. The execution changes its status.')),
  context: v.optional(Context),
});
export type NewExecution = v.InferOutput<typeof NewExecution>;

/** The data that `executeAgent` returns. */
export const ExecutionStarted = v.object({
  executionId: ExecutionId,
  agentName: AgentName,
  status: ExecutionStatus,
  startedAt: Timestamp,
});
export type ExecutionStarted = v.InferOutput<typeof ExecutionStarted>;

/** The fields that lists of executions and a single one have in common. */
const executionFields = {
  id: ExecutionId,
  agentName: AgentName,
  taskId: v.optional(TaskId),
  status: ExecutionStatus,
  startedAt: Timestamp,
  completedAt: v.optional(described(Timestamp, 'End time; absent while the execution runs.')),
  durationMs: v.optional(described(count, 'Milliseconds from startedAt to completedAt, including the quality gates.')),
  stepCount: v.optional(
    described(
      count,
      'Number of steps, including the quality gates that were asked. In lists, executions have it once they have ended.',
    ),
  ),
  tokensUsed: v.optional(
    described(
      count,
      'Tokens of all model calls, including the quality gates; absent while the execution runs. Lists have it with `include=results`.',
    ),
  ),
  tokensEstimated: v.optional(
    described(
      v.boolean(),
      'Present, and `true`, if `tokensUsed` contains estimates: a model call that was aborted counts its input, estimated from its length, and nothing of its answer. Lists have it with `include=results`.',
    ),
  ),
  qualityGates: v.optional(
    described(
      QualityGates,
      'The results of the quality gates. Lists have it with `include=results` once the execution has ended, unless an earlier version of the service ended it.',
    ),
  ),
  startedBy: v.optional(
    described(
      v.object({
        kind: described(
          oneOf(['request', 'auto_run', 'delegation']),
          '`auto_run`: the service, on a ready task of an agent with `autoRun`.',
        ),
      }),
      'What has started the execution. Absent in lists for executions that a version before 0.3.0 has listed.',
    ),
  ),
};

/** The number of code points of an input that lists of executions return. */
export const inputStartLength = 200;

/** An execution as lists return it. */
export const ExecutionListItem = v.object({
  ...executionFields,
  inputStart: v.optional(
    described(v.string(), `The first ${inputStartLength} characters of the input; only with \`include=subject\`.`),
  ),
  taskTitle: v.optional(
    described(
      v.string(),
      'The title that the task has now; only with `include=subject`, if the task exists and the access token has the scope `tasks:read`.',
    ),
  ),
  error: v.optional(
    described(
      v.string(),
      'The code of why the execution failed, such as `cancelled`; only with `include=results`, and only if it has a code. `getExecution` has every error.',
    ),
  ),
});
export type ExecutionListItem = v.InferOutput<typeof ExecutionListItem>;

/** The kinds of steps. */
export const StepKind = oneOf(['model', 'tool', 'gate']);

/** The step that is running. */
const CurrentStep = v.object({
  number: v.pipe(v.number(), v.integer(), v.minValue(1)),
  kind: StepKind,
  name: v.string(),
  startedAt: Timestamp,
});

/** An execution as `getExecution` returns it. */
export const Execution = v.object({
  ...executionFields,
  input: v.string(),
  context: v.optional(
    described(
      Context,
      'The context of the request that started the execution; absent if it had none. Lists have none.',
    ),
  ),
  output: v.optional(described(v.string(), 'The generated text; only present if the execution is completed.')),
  model: described(v.string(), 'The model that the execution asks; `simulator` if the built-in simulator answered.'),
  promptHash: v.optional(
    described(
      PromptHash,
      "Hash of the agent's system prompt that the model got; while the execution runs, that at its start. Absent for executions that an early version of the service ended.",
    ),
  ),
  qualityGates: QualityGates,
  gateReasons: v.optional(
    described(
      GateReasons,
      'What each quality gate answered: the first 2,000 characters. Of a gate that was skipped without an answer, `No verdict: ` and why. Only present if the execution is completed.',
    ),
  ),
  error: v.optional(
    described(
      v.string(),
      'Why the execution failed; only present if it failed. `not_started`: no worker was free within the waiting limit. `deadline`: ten minutes, or the limit of the deployment, passed since a worker first started it. `lost`: two workers in a row were lost. `step_limit`, `token_limit`: it used up its steps or its tokens. `cancelled`: a request cancelled it, or the execution that delegated it. `agent_not_active`: its agent was deactivated while it ran. Any other value is a sentence for people.',
    ),
  ),
  errorReason: v.optional(
    described(
      v.string(),
      'What happened, in a sentence for people; only present if the execution failed. For `deadline` it says whether the time was spent waiting for a model that throttles.',
    ),
  ),
  waitingForModel: v.optional(
    described(
      v.boolean(),
      'Present, and `true`, while a running execution waits for its model, which is overloaded or has too many requests.',
    ),
  ),
  delegationId: v.optional(described(DelegationId, 'The delegation that started the execution.')),
  currentStep: v.optional(
    described(
      CurrentStep,
      'The step that a worker has started and not ended; only present while the execution runs, and not in the quality gates.',
    ),
  ),
});
export type Execution = v.InferOutput<typeof Execution>;

/** The query of both lists of executions. Unlike filters of tasks, these are in camelCase. */
const ExecutionQuery = v.object({
  status: v.optional(described(ExecutionStatus, 'Return only executions with this status.')),
  agentName: v.optional(described(AgentName, 'Return only executions of the agent that currently has this name.')),
  include: v.optional(
    someOf(
      ['results', 'subject'],
      'What to add to the executions, separated by commas. `results` adds `tokensUsed`, `tokensEstimated` and `qualityGates`, and takes no further reads. `subject` adds `inputStart`, and `taskTitle` if the access token has the scope `tasks:read`. It reads the whole input of each execution, with its context, and each different task: a read unit of the table for each 4 KB.',
    ),
  ),
  ...pageQuery,
});
/** The filters of a list of executions, and what its executions have besides the fields of every list. */
export type ExecutionFilter = Omit<v.InferOutput<typeof ExecutionQuery>, 'limit' | 'offset'>;

/** The statuses of a delegation. */
export const DelegationStatus = oneOf(['accepted', 'running', 'completed', 'failed']);

/** The body of `delegateTask`. */
export const NewDelegation = v.object({
  toAgent: described(AgentName, 'Name of the agent to delegate to.'),
  taskId: v.optional(described(TaskId, 'The task to work on.')),
  instruction: described(input, 'The input of the other agent, passed on unchanged.'),
  context: v.optional(Context),
});
export type NewDelegation = v.InferOutput<typeof NewDelegation>;

/** The data that `delegateTask` returns. */
export const Delegation = v.object({
  delegationId: DelegationId,
  fromAgent: AgentName,
  toAgent: AgentName,
  status: DelegationStatus,
});
export type Delegation = v.InferOutput<typeof Delegation>;

const exampleExecution = {
  id: examples.executionId,
  agentName: examples.systemAgentName,
  taskId: examples.taskId,
  status: 'completed',
  startedAt: examples.started,
  completedAt: examples.ended,
  durationMs: examples.durationMs,
  startedBy: { kind: 'request' },
} as const;

export const executeAgent = endpoint({
  method: 'POST',
  path: '/api/agents/:name/execute',
  scope: 'agents:execute',
  summary: 'Run an agent',
  params: { name: AgentName },
  body: NewExecution,
  freeForm: ['context'],
  status: 200,
  resource: v.object({ ...Execution.entries, ...ExecutionStarted.entries }),
  data: ExecutionStarted,
  startsExecution: true,
  errors: ['unknown_reference', 'agent_not_active', 'task_blocked', 'task_claimed'],
});

export const executeAgentReference = (): ApiReference<typeof executeAgent> => ({
  description:
    'Starts an execution and responds as soon as it is accepted. The execution then runs asynchronously, by default for at most ten minutes. `GET /api/agents/{name}/executions/{id}` and the events `agent.completed` and `agent.failed` report the result. With a `taskId`, the task moves to `in_progress`. When the execution ends, the task moves to `up_for_review` if both quality gates passed, to `assigned` if the execution failed, and to `qa_review` in all other cases. If another request has changed the status of the task in the meantime, the status stays. A task with dependencies that are not `done` leads to the error `task_blocked`. Publishes `agent.spawned`.',
  params: { name: examples.systemAgentName },
  body: { input: examples.input, context: { audience: 'new developers' } },
  furtherBodies: { 'On a task': { input: 'Review the landing page.', taskId: examples.taskId } },
  data: {
    executionId: examples.executionId,
    agentName: examples.systemAgentName,
    status: 'running',
    startedAt: examples.started,
  },
});

export const delegateTask = endpoint({
  method: 'POST',
  path: '/api/agents/:name/delegate',
  scope: 'agents:execute',
  summary: 'Delegate to another agent',
  params: { name: AgentName },
  body: NewDelegation,
  freeForm: ['context'],
  status: 200,
  data: Delegation,
  startsExecution: true,
  errors: [
    'unknown_reference',
    'self_delegation',
    'agent_not_active',
    'task_blocked',
    'task_claimed',
    'delegation_cycle',
    'delegation_too_deep',
  ],
});

export const delegateTaskReference = (): ApiReference<typeof delegateTask> => ({
  description:
    'Starts an execution of `toAgent`, which has the `delegationId` of the response. The delegating agent can have any status; `toAgent` must be `active`. A chain can have at most three delegations, counted by the executions that run on the same task. An agent cannot delegate back to an agent of its chain.',
  params: { name: examples.systemAgentName },
  body: { toAgent: examples.otherSystemAgentName, instruction: 'What makes a prompt easy to review?' },
  furtherBodies: {
    'On a task': {
      toAgent: examples.otherSystemAgentName,
      taskId: examples.taskId,
      instruction: 'Propose a prompt for the builder of the landing page.',
    },
  },
  data: {
    delegationId: examples.delegationId,
    fromAgent: examples.systemAgentName,
    toAgent: examples.otherSystemAgentName,
    status: 'accepted',
  },
});

export const listExecutions = endpoint({
  method: 'GET',
  path: '/api/agents/executions',
  scope: 'agents:read',
  summary: 'List executions',
  query: ExecutionQuery,
  status: 200,
  data: ExecutionListItem,
  paged: true,
});

export const listExecutionsReference = (): ApiReference<typeof listExecutions> => ({
  description:
    'Returns the executions of all agents, newest first, without inputs and outputs. Each execution is in the list as soon as its start has responded, and `pagination.total` is exact at any size.',
  data: [exampleExecution],
});

export const listAgentExecutions = endpoint({
  method: 'GET',
  path: '/api/agents/:name/executions',
  scope: 'agents:read',
  summary: 'List executions of an agent',
  params: { name: AgentName },
  query: ExecutionQuery,
  status: 200,
  data: ExecutionListItem,
  paged: true,
  servedBy: 'listExecutions',
});

export const listAgentExecutionsReference = (): ApiReference<typeof listAgentExecutions> => ({
  description:
    'Returns the executions of the agent, newest first, in the format of `GET /api/agents/executions`. An `agentName` that differs from the path leads to an empty page.',
  params: { name: examples.systemAgentName },
  data: [exampleExecution],
});

export const getExecution = endpoint({
  method: 'GET',
  path: '/api/agents/:name/executions/:id',
  scope: 'agents:read',
  summary: 'Get an execution',
  params: { name: AgentName, id: ExecutionId },
  status: 200,
  data: Execution,
});

export const getExecutionReference = (): ApiReference<typeof getExecution> => ({
  description:
    'Returns the execution with its input and its output. A running execution has no `output`, `tokensUsed`, `completedAt` and `durationMs`, and its quality gates are `pending`. A failed execution has an `error` and no `output`. For an execution of `qa-reviewer`, the gate `qaReview` is `skipped`.',
  params: { name: examples.systemAgentName, id: examples.executionId },
  data: {
    ...exampleExecution,
    input: examples.input,
    output: 'It has one outcome, and says how to check it.',
    tokensUsed: examples.tokensUsed,
    model: examples.model,
    promptHash: examples.promptHash,
    qualityGates: { selfTest: 'passed', qaReview: 'skipped' },
    gateReasons: {
      selfTest: 'The answer names two properties of such a task.\nVERDICT: PASS',
      qaReview: `${noVerdict}qa-reviewer does not judge its own work.`,
    },
  },
});
