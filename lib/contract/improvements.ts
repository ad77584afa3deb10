import * as v from 'valibot';
import { type ApiReference, endpoint } from './endpoint.ts';
import { AgentName, described, text } from './shapes.ts';

/** The body of `selfImproveAgent`: how many of the newest executions to look at, and what to look for. */
export const NewImprovement = v.object({
  lookbackExecutions: v.optional(
    v.pipe(
      v.number('must be a number'),
      v.integer('must be a whole number'),
      v.minValue(1, 'must be at least 1'),
      v.maxValue(100, 'must be at most 100'),
      v.description('How many of the newest executions to look at.'),
    ),
    20,
  ),
  focusArea: v.optional(described(text(1, 1_000), 'What to look for in them.')),
});
export type NewImprovement = v.InferOutput<typeof NewImprovement>;

const promptHash = v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/));

/** What a pass has come to. The hashes are those of the prompt before and after; equal where it stayed. */
export const Improvement = v.object({
  improved: described(v.boolean(), 'Whether the system prompt was changed.'),
  changesSummary: described(v.string(), 'What was changed, or why nothing was.'),
  previousPromptHash: described(promptHash, 'Of the system prompt before.'),
  newPromptHash: described(promptHash, 'Of the system prompt after; the same where it stayed.'),
});
export type Improvement = v.InferOutput<typeof Improvement>;

export const selfImproveAgent = endpoint({
  method: 'POST',
  path: '/api/agents/:name/self-improve',
  scope: 'agents:execute',
  summary: 'Have an agent learn from its recent executions',
  params: { name: AgentName },
  body: NewImprovement,
  status: 200,
  data: Improvement,
  callsOut: true,
  asksModels: true,
  errors: ['improvement_in_progress'],
});

export const selfImproveAgentReference = (): ApiReference<typeof selfImproveAgent> => ({
  description:
    'Answers within 30 seconds. Looks for what went wrong or took too long in recent executions, proposes an edit of the system prompt, tries old and new on recent inputs, and adopts the edit only if it is judged better, blind and in both orders. The soul and the skills stay. One pass at a time for an agent.',
  body: { lookbackExecutions: 20, focusArea: 'answers that are too long' },
  data: {
    improved: true,
    changesSummary: 'Asks for the page alone, without an explanation, since three of the last runs were cut off.',
    previousPromptHash: 'sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
    newPromptHash: 'sha256:fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9',
  },
});
