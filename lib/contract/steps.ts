import * as v from 'valibot';
import { type ApiReference, endpoint } from './endpoint.ts';
import * as examples from './examples.ts';
import { ExecutionId, StepKind } from './executions.ts';
import { AgentName, count, described, pageQuery, Timestamp } from './shapes.ts';

/** A step of an execution. */
export const ExecutionStep = v.object({
  number: described(v.pipe(v.number(), v.integer(), v.minValue(1)), 'Number of the step, from 1.'),
  kind: described(
    StepKind,
    '`model`: a call of the model of the agent. `tool`: a call of a tool. `gate`: a quality gate.',
  ),
  name: described(v.string(), 'The model, the tool, or the quality gate: `selfTest` or `qaReview`.'),
  input: v.optional(
    described(
      v.string(),
      'The arguments of a tool as JSON, or the input of the execution for the first call of the model. At most 4 KiB.',
    ),
  ),
  output: v.optional(
    described(
      v.string(),
      'The text of the model, the result of a tool as the model got it, or what a quality gate answered. At most 4 KiB.',
    ),
  ),
  truncated: described(v.boolean(), 'Whether `input` or `output` is only the start of a longer text.'),
  error: v.optional(described(v.string(), 'Why the step failed. A model gets the error of a tool as its result.')),
  tokensUsed: v.optional(described(count, 'Tokens of a call of a model, if they are known.')),
  startedAt: v.optional(described(Timestamp, 'Absent if an earlier version of the service ran the step.')),
  durationMs: v.optional(described(count, 'Milliseconds; absent while the step runs.')),
});
export type ExecutionStep = v.InferOutput<typeof ExecutionStep>;

export const listSteps = endpoint({
  method: 'GET',
  path: '/api/agents/:name/executions/:id/steps',
  scope: 'agents:read',
  summary: 'List steps of an execution',
  params: { name: AgentName, id: ExecutionId },
  query: v.object(pageQuery),
  status: 200,
  data: ExecutionStep,
  paged: true,
});

export const listStepsReference = (): ApiReference<typeof listSteps> => ({
  description:
    'Returns the calls of the model and of tools, then the quality gates, in the order of their numbers. An agent without tools has one call of the model. A step is in the list as soon as it starts; a quality gate, and the only call of an agent without tools, can appear later. A step that a lost worker had started keeps its number: the next worker runs it again.',
  params: { name: examples.systemAgentName, id: examples.executionId },
  data: [
    {
      number: 1,
      kind: 'model',
      name: examples.model,
      input: examples.input,
      output: 'It has one outcome, and says how to check it.',
      truncated: false,
      tokensUsed: examples.tokensUsed,
      startedAt: examples.started,
      durationMs: examples.durationMs,
    },
  ],
});
