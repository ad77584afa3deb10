import type * as delegationRows from '../../contract/delegations.ts';
import type * as rows from '../../contract/executions.ts';
import type * as improvementRows from '../../contract/improvements.ts';
import type { ReferenceOf } from './row.ts';
import { story } from './story.ts';

const listed = {
  id: story.executionId,
  agentName: story.agentName,
  taskId: story.taskId,
  status: 'completed',
  startedAt: story.started,
  completedAt: story.ended,
  durationMs: story.durationMs,
} as const;

/** The words and examples for what agents do: executions, delegations, self-improvement. */
export const executions = {
  executeAgent: {
    description:
      'Answers as soon as the execution is accepted; it runs behind the answer, for ten minutes at most, and its end is in `GET /api/agents/{name}/executions/{id}` and in the events `agent.completed` and `agent.failed`. With a `taskId` the task moves to `in_progress`, and at the end to `up_for_review` (both quality gates passed), `qa_review` (anything else) or `assigned` (failed), unless somebody has moved it meanwhile. A task that waits for others is refused with `task_blocked`. Emits `agent.spawned`.',
    body: { input: story.input, taskId: story.taskId, context: { drawing: 'https://example.com/drawing.png' } },
    data: {
      executionId: story.executionId,
      agentName: story.agentName,
      status: 'running',
      startedAt: story.started,
    },
  },
  listExecutions: {
    description:
      'Without inputs and outputs. A start that was answered is always seen, and `pagination.total` is exact at any size.',
    data: [listed],
  },
  listAgentExecutions: {
    description: 'Like the list of all; an `agentName` that differs from the path gives an empty page.',
    data: [listed],
  },
  getExecution: {
    description:
      'While it runs it has no `output`, `tokensUsed`, `completedAt` and `durationMs`, and its quality gates are `pending`. A failed one has an `error` and no output.',
    data: {
      ...listed,
      input: story.input,
      output: '<!doctype html>…',
      tokensUsed: story.tokensUsed,
      model: story.model,
      qualityGates: { selfTest: 'passed', qaReview: 'passed' },
    },
  },
  delegateTask: {
    description:
      'Starts an execution of `toAgent`, whose `delegationId` names this delegation; the delegating agent needs no status, the other must be `active`. Three delegations in a row are allowed, by what is running on the same task; back to an agent of the chain is refused.',
    body: { toAgent: story.reviewerName, taskId: story.taskId, instruction: 'Read the page for mistakes.' },
    data: {
      delegationId: story.delegationId,
      fromAgent: story.agentName,
      toAgent: story.reviewerName,
      status: 'accepted',
    },
  },
  selfImproveAgent: {
    description:
      'Answers within 30 seconds. Looks for what went wrong or took too long in recent executions, proposes an edit of the system prompt, tries old and new on recent inputs, and adopts the edit only if it is judged better, blind and in both orders. The soul and the skills stay. One pass at a time for an agent.',
    body: { lookbackExecutions: 20, focusArea: 'answers that are too long' },
    data: {
      improved: true,
      changesSummary: 'Asks for the page alone, without an explanation, since three of the last runs were cut off.',
      previousPromptHash: 'sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
      newPromptHash: 'sha256:fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9',
    },
  },
} as const satisfies ReferenceOf<typeof rows & typeof delegationRows & typeof improvementRows>;
