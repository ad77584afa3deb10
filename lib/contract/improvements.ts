import * as v from 'valibot';
import { endpoint } from './endpoint.ts';
import { AgentName, text } from './shapes.ts';

/** The body of `selfImproveAgent`: how many of the newest executions to look at, and what to look for. */
export const NewImprovement = v.object({
  lookbackExecutions: v.optional(
    v.pipe(
      v.number('must be a number'),
      v.integer('must be a whole number'),
      v.minValue(1, 'must be at least 1'),
      v.maxValue(100, 'must be at most 100'),
    ),
    20,
  ),
  focusArea: v.optional(text(1, 1_000)),
});
export type NewImprovement = v.InferOutput<typeof NewImprovement>;

/** What a pass has come to. The hashes are those of the prompt before and after; equal where it stayed. */
export const Improvement = v.object({
  improved: v.boolean(),
  changesSummary: v.string(),
  previousPromptHash: v.string(),
  newPromptHash: v.string(),
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
  refuses: ['improvement_in_progress'],
});
