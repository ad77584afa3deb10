import * as v from 'valibot';
import { described, oneOf } from '../shapes.ts';

/**
 * The result of a quality gate: `pending` while the execution runs, `skipped` if no model could evaluate the output.
 */
const GateResult = oneOf(['pending', 'passed', 'failed', 'skipped']);
export type GateResult = v.InferOutput<typeof GateResult>;

export const QualityGates = v.object({
  selfTest: described(GateResult, "The evaluation of the output by the agent's own model."),
  qaReview: described(GateResult, "The evaluation of the output by the organization's `qa-reviewer` agent."),
});
export type QualityGates = v.InferOutput<typeof QualityGates>;

/** The start of the reason of a gate whose judge gave no answer. */
export const noVerdict = 'No verdict: ';

export const GateReasons = v.object({
  selfTest: v.optional(v.string()),
  qaReview: v.optional(v.string()),
});
export type GateReasons = v.InferOutput<typeof GateReasons>;
