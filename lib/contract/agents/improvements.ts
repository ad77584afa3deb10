import * as v from 'valibot';
import { type ApiReference, endpoint } from '../endpoint.ts';
import * as examples from '../examples.ts';
import { ExecutionId } from '../executions/executions.ts';
import { AgentName, count, described, id, oneOf, PromptHash, pageQuery, Timestamp, text } from '../shapes.ts';
import { needsToolScopes } from './agents.ts';

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

/** The result of a self-improvement pass. */
export const Improvement = v.object({
  improved: described(v.boolean(), 'Whether the pass changed the system prompt.'),
  changesSummary: described(v.string(), 'What the pass changed, or why it changed nothing.'),
  previousPromptHash: described(PromptHash, 'Hash of the system prompt before the pass.'),
  newPromptHash: described(
    PromptHash,
    'Hash of the system prompt after the pass; the same as before if the prompt did not change.',
  ),
});
export type Improvement = v.InferOutput<typeof Improvement>;

/** The results of a pass that has asked a model. */
export const improvementDecisions = [
  'adopted',
  'not_better',
  'worse',
  'no_proposal',
  'not_usable',
  'not_tried',
  'not_judged',
  'superseded',
] as const;
export const ImprovementDecision = described(
  oneOf(improvementDecisions),
  '`adopted`: the edit is in the prompt. `not_better`, `worse`: too few votes are for it. `no_proposal`: the improver proposed no edit. `not_usable`: the edit cannot be applied. `not_tried`, `not_judged`: too many model calls failed. `superseded`: the agent was changed in the meantime.',
);
export type ImprovementDecision = v.InferOutput<typeof ImprovementDecision>;

/** The vote of the reviewer for the answer of a prompt, in one question. */
export const ImprovementVote = oneOf(['new', 'previous', 'none']);

const truncated = v.optional(
  described(v.boolean(), 'true if a text is longer: only its first 2,000 characters are shown.'),
);

/** The edit that the improver proposed. */
export const ImprovementProposal = v.object({
  summary: described(v.string(), 'What the edit does and why.'),
  append: v.optional(described(v.string(), 'The text to add at the end of the prompt.')),
  replace: v.optional(described(v.string(), 'The passage of the prompt to replace.')),
  with: v.optional(described(v.string(), 'The text in place of that passage.')),
  truncated,
});

/** The answers of the two prompts to an input, with the votes. */
export const ImprovementTrial = v.object({
  executionId: described(ExecutionId, 'The execution whose input was tried.'),
  heldOut: described(v.boolean(), 'Whether the improver did not see the input.'),
  input: v.string(),
  previousAnswer: v.optional(described(v.string(), 'The answer of the previous prompt.')),
  newAnswer: v.optional(described(v.string(), 'The answer of the new prompt.')),
  previousError: v.optional(described(v.string(), 'Why the previous prompt has no answer.')),
  newError: v.optional(described(v.string(), 'Why the new prompt has no answer.')),
  votes: described(
    v.array(ImprovementVote),
    'One vote for each question to the reviewer; empty if the answers are equal, or if one is missing.',
  ),
  truncated,
});

/** A pass of self-improvement, as the list returns it. */
export const ImprovementPass = v.object({
  id: id('im', 'a self-improvement pass'),
  decision: ImprovementDecision,
  ...Improvement.entries,
  tokensUsed: described(count, 'Tokens of all model calls.'),
  startedAt: Timestamp,
  durationMs: described(count, 'Milliseconds from the request to the decision.'),
  proposal: v.optional(described(ImprovementProposal, 'Absent if the improver proposed nothing.')),
  votes: described(
    v.object({ new: count, previous: count, none: count }),
    'The number of votes for each prompt, and of questions without a choice.',
  ),
  chance: v.optional(
    described(
      v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
      'The probability that an edit without an effect gets these votes; the edit is adopted below 0.02. Absent if no answers were compared.',
    ),
  ),
  trials: described(v.array(ImprovementTrial), 'The pairs of answers: ten, or none.'),
});
export type ImprovementPass = v.InferOutput<typeof ImprovementPass>;

export const listImprovements = endpoint({
  method: 'GET',
  path: '/api/agents/:name/improvements',
  scope: 'agents:read',
  summary: 'List self-improvement passes of an agent',
  params: { name: AgentName },
  query: v.object(pageQuery),
  status: 200,
  data: ImprovementPass,
  paged: true,
});

const exampleImprovement = {
  improved: true,
  changesSummary: 'Asks for the page alone, without an explanation, since three of the last runs were cut off.',
  previousPromptHash: 'sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
  newPromptHash: 'sha256:fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9',
} as const;

export const listImprovementsReference = (): ApiReference<typeof listImprovements> => ({
  description:
    'Returns the self-improvement passes of the agent, newest first, with their proof: the proposal, the answers of both prompts to each tried input, the votes of the reviewer and the decision. A pass that ended before it asked a model is not in the list.',
  params: { name: examples.systemAgentName },
  data: [
    {
      id: examples.improvementId,
      decision: 'adopted',
      ...exampleImprovement,
      tokensUsed: 64_210,
      startedAt: examples.started,
      durationMs: 17_400,
      proposal: { summary: exampleImprovement.changesSummary, append: 'Answer with the page alone.' },
      votes: { new: 37, previous: 2, none: 1 },
      chance: 0.001,
      trials: [
        {
          executionId: examples.executionId,
          heldOut: true,
          input: examples.input,
          previousAnswer: 'Sure! Here is what makes a task easy to review: it has one outcome.',
          newAnswer: 'It has one outcome.',
          votes: ['new', 'new', 'new', 'none'],
        },
      ],
    },
  ],
});

export const selfImproveAgent = endpoint({
  method: 'POST',
  path: '/api/agents/:name/self-improve',
  scope: ['agents:execute', 'agents:write'],
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
  description: `Reviews recent executions for failures and slow runs, and proposes an edit of the system prompt. Tests the old and the new prompt on recent inputs, and adopts the edit only if a blind comparison, made in both orders, rates it better. Does not change the soul and the skills. Responds within 30 seconds. An agent can have one pass at a time. A pass counts as the start of an execution, and its tokens in the daily budget of the organization. \`GET /api/agents/{name}/improvements\` has the proof of each pass. ${needsToolScopes}`,
  body: { lookbackExecutions: 20, focusArea: 'answers that are too long' },
  data: exampleImprovement,
});
