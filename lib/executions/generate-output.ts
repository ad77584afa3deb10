import type { CatalogueSkill } from '../agents/skill-catalogue.ts';
import { qaReviewer } from '../agents/system-agents.ts';
import type { Context } from '../context.ts';
import type { GateReasons, GateResult, QualityGates } from '../contract/executions.ts';
import type { Model } from '../model/converse.ts';
import { type PreparedAgent, type PreparingContext, readPreparedAgent } from '../table/agents/prepared-agents.ts';
import type { Progress, RunningExecution } from '../table/executions/execution-items.ts';
import { readMaterial } from '../table/executions/execution-material.ts';
import { readStoredOutput } from '../table/executions/executions.ts';
import { type Answered, askModel } from './ask-model.ts';
import { reviewPromptOf, selfTestPrompt, systemPromptOf, userPromptOf, verdictOf } from './prompts.ts';

/** The models, and the skills of this deployment. Few functions have them, so they are not part of the context. */
export type Tools = {
  model: Model;
  /** Returns the name of the model that answers questions to a model; that model if absent. */
  answeringModel?: (model: string) => string;
  catalogue: readonly CatalogueSkill[];
};

/** How an execution ends. */
export type Result = QualityGates & { tokensUsed: number; throttles: number } & (
    | { status: 'completed'; output: string; gateReasons: GateReasons }
    | { status: 'failed'; error: string }
  );

/** A model throttles: the worker returns its lease, and another worker continues later from this progress. */
export type Throttled = {
  status: 'throttled';
  progress: Progress;
  /** The output, if there is one that is not stored yet. */
  output: string | undefined;
  /** The reasons of the gates that have answered. */
  gateReasons: GateReasons;
  throttles: number;
};

/** How often a model is asked, throttled calls not counted. A gate is asked once: a person can review the output instead. */
const triesOfOutput = 3;
const triesOfGate = 1;

/** Limits that current models of every family accept. An execution with a longer answer fails. */
const maxTokensOfOutput = 8_192;
const maxTokensOfGate = 1_024;

/** The longest output in bytes. A transaction takes 4 MB. */
const longestOutputBytes = 1_000_000;

/**
 * The longest output in a response, in bytes as JSON. A response of the API takes 6 MB, with an input of up to 0.7 MB
 * (`lib/http/middleware/payload.ts`). Only an output of mostly control characters, which take 7 bytes each, exceeds this limit and not
 * the one above.
 */
export const longestOutputPayload = 5_000_000;

/** The longest stored reason of a gate, in code points. */
const longestReason = 2_000;

/**
 * How long a worker waits for a throttled model before it returns its lease, in milliseconds. All organizations share the
 * workers.
 */
const patienceMs = 5_000;

const noProgress: Progress = { waits: 0, faults: 0, tokens: 0, verdicts: {} };

/** Returns the result of an execution that failed; the gates are skipped. */
export function failed(error: string, { tokens, throttles } = { tokens: 0, throttles: 0 }): Result {
  return { status: 'failed', error, tokensUsed: tokens, throttles, selfTest: 'skipped', qaReview: 'skipped' };
}

/**
 * Asks the model of an agent, then has the two quality gates judge its answer. It continues from the progress of earlier
 * workers.
 *
 * @param signal aborts at the deadline, or when the lease is lost
 * @returns how the execution ends, or that a model throttles; `undefined` if its agent was deleted
 */
export async function generateOutput(
  context: PreparingContext & Pick<Context, 'pause'>,
  execution: RunningExecution,
  { model, catalogue }: Tools,
  signal: AbortSignal,
): Promise<Result | Throttled | undefined> {
  const { organization, agentId, agentName, progress: before = noProgress } = execution;
  // Everything is read before a call to a model costs anything.
  const [{ input, task, ...heads }, stored] = await Promise.all([
    readMaterial(context, execution, qaReviewer),
    readStoredOutput(context, execution),
  ]);
  const [prepared, reviewer] = await Promise.all([
    heads.agent && readPreparedAgent(context, organization, agentName, heads.agent),
    heads.reviewer && readPreparedAgent(context, organization, qaReviewer, heads.reviewer),
  ]);
  if (!input || prepared?.agent.id !== agentId) return undefined;

  const instructions = { ...input, task, delegatedBy: execution.delegatedBy };
  const answered: Answered =
    stored === undefined
      ? await askModel(
          context,
          model,
          {
            model: execution.model,
            system: systemPromptOf(prepared, catalogue),
            user: userPromptOf(instructions),
            maxTokens: maxTokensOfOutput,
            signal,
          },
          triesOfOutput,
          { faults: before.faults, patienceMs },
        )
      : { kind: 'text', text: stored, tokens: 0, throttles: 0 };
  const spent = { tokens: before.tokens + answered.tokens, throttles: answered.throttles };
  if (answered.kind === 'aborted') return failed('deadline', spent);
  if (answered.kind === 'failed') return failed(answered.error, spent);
  if (answered.kind === 'throttled')
    return {
      status: 'throttled',
      progress: { ...before, waits: before.waits + 1, faults: answered.faults, tokens: spent.tokens },
      output: undefined,
      gateReasons: {},
      throttles: spent.throttles,
    };
  const output = answered.text.toWellFormed();
  if (isTooLong(output)) return failed('The answer of the model was longer than it may be.', spent);

  const user = reviewPromptOf(instructions, output);
  const { verdicts } = before;
  const [selfTest, qaReview] = await Promise.all([
    judge(verdicts.selfTest, { model: execution.model, system: selfTestPrompt }),
    mayReview(reviewer, agentId)
      ? judge(verdicts.qaReview, { model: reviewer.agent.model, system: systemPromptOf(reviewer, catalogue) })
      : judged('skipped'),
  ]);
  const tokensUsed = spent.tokens + selfTest.tokens + qaReview.tokens;
  const throttles = spent.throttles + selfTest.throttles + qaReview.throttles;
  const gateReasons = {
    ...(selfTest.reason !== undefined && { selfTest: selfTest.reason }),
    ...(qaReview.reason !== undefined && { qaReview: qaReview.reason }),
  };
  if (selfTest.verdict === undefined || qaReview.verdict === undefined)
    return {
      status: 'throttled',
      progress: {
        waits: before.waits + 1,
        faults: 0,
        tokens: tokensUsed,
        verdicts: {
          ...(selfTest.verdict && { selfTest: selfTest.verdict }),
          ...(qaReview.verdict && { qaReview: qaReview.verdict }),
        },
      },
      output: stored === undefined ? output : undefined,
      gateReasons,
      throttles,
    };
  return {
    status: 'completed',
    output,
    gateReasons,
    tokensUsed,
    throttles,
    selfTest: selfTest.verdict,
    qaReview: qaReview.verdict,
  };

  /** Asks a gate, unless its verdict is known. Fails closed: without a verdict in time the output has not passed. */
  async function judge(known: GateResult | undefined, gate: { model: string; system: string }): Promise<Judged> {
    if (known) return judged(known);
    const question = { ...gate, user, maxTokens: maxTokensOfGate, effort: 'low' as const, signal };
    const answer = await askModel(context, model, question, triesOfGate, { patienceMs });
    if (answer.kind === 'throttled') return judged(undefined, answer);
    return answer.kind === 'text'
      ? { ...judged(verdictOf(answer.text), answer), reason: reasonOf(answer.text) }
      : judged('skipped', answer);
  }
}

function isTooLong(output: string): boolean {
  if (Buffer.byteLength(output) > longestOutputBytes) return true;
  return Buffer.byteLength(JSON.stringify(JSON.stringify(output))) > longestOutputPayload;
}

/** Returns the start of a gate's answer. */
function reasonOf(answer: string): string {
  return [...answer.toWellFormed().trim()].slice(0, longestReason).join('');
}

/** The answer of a gate; `verdict` is `undefined` if its model throttles. */
type Judged = { verdict: GateResult | undefined; reason?: string; tokens: number; throttles: number };

function judged(verdict: GateResult | undefined, { tokens, throttles } = { tokens: 0, throttles: 0 }): Judged {
  return { verdict, tokens, throttles };
}

/** Whether there is a reviewer that is active and another agent than that of the execution. */
function mayReview(reviewer: PreparedAgent | undefined, agentId: string): reviewer is PreparedAgent {
  return reviewer?.agent.status === 'active' && reviewer.agent.id !== agentId;
}
