import * as v from 'valibot';
import { type ApiReference, endpoint } from '../endpoint.ts';
import * as examples from '../examples.ts';
import { AgentName, count, described, oneOf, PromptHash, pageQuery, someOf, Timestamp } from '../shapes.ts';
import { ExecutionId, StepKind } from './executions.ts';

const StepNumber = v.pipe(v.number(), v.integer(), v.minValue(1));

/** A part of a message to a model. */
const MessagePart = v.object({
  text: described(v.string(), 'The part as the model got it, with its tags. At most 4 KiB.'),
  length: v.optional(
    described(count, 'Number of characters of the whole part; only present if `text` is only its start.'),
  ),
});
export type MessagePart = v.InferOutput<typeof MessagePart>;

/** A message that a call of a model received. */
const StepMessage = v.object({
  role: described(
    oneOf(['system', 'user', 'assistant', 'tool']),
    '`assistant`: what the model itself has answered before. `tool`: the result of a call of a tool.',
  ),
  promptHash: v.optional(
    described(
      PromptHash,
      'Of a `system` message: the hash of the system prompt in it, of the agent or, in the gate `qaReview`, of `qa-reviewer`. `GET /api/agents/{name}/prompts/{hash}` returns its text.',
    ),
  ),
  parts: v.optional(described(v.array(MessagePart), 'The parts of the message, with an empty line between them.')),
  step: v.optional(
    described(StepNumber, 'Of the roles `assistant` and `tool`: the number of the step whose output the message has.'),
  ),
});
export type StepMessage = v.InferOutput<typeof StepMessage>;

/** A step of an execution. */
export const ExecutionStep = v.object({
  number: described(StepNumber, 'Number of the step, from 1.'),
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
  messages: v.optional(
    described(
      v.array(StepMessage),
      'What the call of a model received: the system message, and the messages that are new since the call before. Only with `include=messages`. Absent for tools, for a call of which nothing is stored yet, for the gates of a failed execution, and for calls of earlier versions of the service.',
    ),
  ),
});
export type ExecutionStep = v.InferOutput<typeof ExecutionStep>;

/** The query of `listSteps`. */
const StepQuery = v.object({
  include: v.optional(
    someOf(
      ['messages'],
      'What to add to the steps. `messages` adds what each call of a model received. It reads all that is stored of the execution: a read unit of the table for each 4 KB.',
    ),
  ),
  ...pageQuery,
});
export type StepQuery = v.InferOutput<typeof StepQuery>;

export const listSteps = endpoint({
  method: 'GET',
  path: '/api/agents/:name/executions/:id/steps',
  scope: 'agents:read',
  summary: 'List steps of an execution',
  params: { name: AgentName, id: ExecutionId },
  query: StepQuery,
  status: 200,
  data: ExecutionStep,
  paged: true,
});

export const listStepsReference = (): ApiReference<typeof listSteps> => ({
  description:
    'Returns the calls of the model and of tools, then the quality gates, in the order of their numbers. An agent without tools has one call of the model. A step is in the list as soon as it starts; a quality gate, and the only call of an agent without tools, can appear later. A step that a lost worker had started keeps its number: the next worker runs it again. With `include=messages`, calls of models have the messages that they received.',
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
      messages: [
        { role: 'system', promptHash: examples.promptHash },
        { role: 'user', parts: [{ text: `<input>\n${examples.input}\n</input>` }] },
      ],
    },
  ],
});
