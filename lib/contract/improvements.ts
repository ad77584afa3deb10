import * as v from 'valibot';
import { type ApiReference, endpoint } from './endpoint.ts';
import { AgentName, described, text } from './shapes.ts';

/** The body of `selfImproveAgent`. */
export const NewImprovement = v.object({
  lookbackExecutions: v.optional(
    v.pipe(
      v.number('must be a number'),
      v.integer('must be a whole number'),
      v.minValue(1, 'must be at least 1'),
      v.maxValue(100, 'must be at most 100'),
      v.description('Number of executions to review, newest first.'),
    ),
    20,
  ),
  focusArea: v.optional(described(text(1, 1_000), 'What the review focuses on.')),
});
export type NewImprovement = v.InferOutput<typeof NewImprovement>;

const promptHash = v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/));

/** The result of a self-improvement pass. */
export const Improvement = v.object({
  improved: described(v.boolean(), 'Whether the pass changed the system prompt.'),
  changesSummary: described(v.string(), 'What the pass changed, or why it changed nothing.'),
  previousPromptHash: described(promptHash, 'Hash of the system prompt before the pass.'),
  newPromptHash: described(
    promptHash,
    'Hash of the system prompt after the pass; the same as before if the prompt did not change.',
  ),
});
export type Improvement = v.InferOutput<typeof Improvement>;

export const selfImproveAgent = endpoint({
  method: 'POST',
  path: '/api/agents/:name/self-improve',
  scope: 'agents:execute',
  summary: 'Improve an agent',
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
    'Reviews recent executions for failures and slow runs, and proposes an edit of the system prompt. Tests the old and the new prompt on recent inputs, and adopts the edit only if a blind comparison, made in both orders, rates it better. Does not change the soul and the skills. Responds within 30 seconds. An agent can have one pass at a time.',
  body: { lookbackExecutions: 20, focusArea: 'answers that are too long' },
  data: {
    improved: true,
    changesSummary: 'Asks for the page alone, without an explanation, since three of the last runs were cut off.',
    previousPromptHash: 'sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
    newPromptHash: 'sha256:fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9',
  },
});
