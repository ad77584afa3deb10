import type { CatalogueSkill } from '../agents/skill-catalogue.ts';
import { qaReviewer } from '../agents/system-agents.ts';
import type { GateResult, QualityGates } from '../contract/executions.ts';
import type { Model } from '../model/converse.ts';
import type { Progress, RunningExecution } from '../table/execution-items.ts';
import { readMaterial } from '../table/execution-material.ts';
import type { ExecutionStore } from '../table/executions.ts';
import { type PreparedAgent, type PreparingContext, readPreparedAgent } from '../table/prepared-agents.ts';
import { type Answered, ask, type Pause } from './asking.ts';
import { requestOf, reviewOf, selfTestPrompt, systemPromptOf, verdictOf } from './prompts.ts';

/** What only the function that runs executions has: the models, and the skills of this deployment. */
export type Tools = { model: Model; catalogue: readonly CatalogueSkill[] };

/** How an execution ends. */
export type Result = QualityGates & { tokensUsed: number; throttles: number } & (
    | { status: 'completed'; output: string }
    | { status: 'failed'; error: string }
  );

/** A model throttles: the worker gives its lease back, and another goes on later with what is kept here. */
export type Throttled = {
  status: 'throttled';
  progress: Progress;
  /** The model's answer, where it is not stored yet. */
  output: string | undefined;
  throttles: number;
};

/** A fault of a model that may pass is met so often in the work; a gate is asked once, for a person can look instead. */
const triesOfWork = 3;
const triesOfGate = 1;

/** What current models of every family take; a longer answer ends as such. */
const maxTokensOfWork = 8_192;
const maxTokensOfGate = 1_024;

/** A transaction takes 4 MB. */
const longestOutputBytes = 1_000_000;

/**
 * A response of the API takes 6 MB, with an input of up to 0.7 MB beside the output (`lib/http/payload.ts`). Only an
 * output that is mostly control characters, which take 7 bytes each there, is longer than this and no longer than that.
 */
export const longestOutputPayload = 5_000_000;

/**
 * How long a worker waits for a throttled model, in milliseconds, before it gives its lease back. A worker occupies one
 * of the places that all organizations share.
 */
const patienceMs = 5_000;

const noProgress: Progress = { waits: 0, faults: 0, tokens: 0, verdicts: {} };

/** An execution that failed; nobody judges what it may have made. */
export function failed(error: string, { tokens, throttles } = { tokens: 0, throttles: 0 }): Result {
  return { status: 'failed', error, tokensUsed: tokens, throttles, selfTest: 'skipped', qaReview: 'skipped' };
}

/**
 * Does the work of an execution: asks its agent's model, then has the answer judged by the two gates. It goes on with
 * what earlier workers did before they gave their leases back.
 *
 * @param signal aborts when the time is up, or the execution is lost
 * @returns how it ends, or that a model throttles; `undefined` where its agent was deleted, whose purge does the rest
 */
export async function work(
  execution: RunningExecution,
  { store, context, pause }: { store: ExecutionStore; context: PreparingContext; pause: Pause },
  { model, catalogue }: Tools,
  signal: AbortSignal,
): Promise<Result | Throttled | undefined> {
  const { organization, agentId, agentName, progress: before = noProgress } = execution;
  // All that is needed is read before a model is paid for.
  const [{ asked, task, ...heads }, stored] = await Promise.all([
    readMaterial(context, execution, qaReviewer),
    store.storedOutput(execution),
  ]);
  const [prepared, reviewer] = await Promise.all([
    heads.agent && readPreparedAgent(context, organization, agentName, heads.agent),
    heads.reviewer && readPreparedAgent(context, organization, qaReviewer, heads.reviewer),
  ]);
  if (!asked || prepared?.agent.id !== agentId) return undefined;

  const given = { ...asked, task, delegatedBy: execution.delegatedBy };
  const answered: Answered =
    stored === undefined
      ? await ask(
          model,
          {
            model: execution.model,
            system: systemPromptOf(prepared, catalogue),
            user: requestOf(given),
            maxTokens: maxTokensOfWork,
            signal,
          },
          pause,
          triesOfWork,
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
      throttles: spent.throttles,
    };
  const output = answered.text.toWellFormed();
  if (isTooLong(output)) return failed('The answer of the model was longer than it may be.', spent);

  const user = reviewOf(given, output);
  const { verdicts } = before;
  const [selfTest, qaReview] = await Promise.all([
    gate(verdicts.selfTest, { model: execution.model, system: selfTestPrompt }),
    mayReview(reviewer, agentId)
      ? gate(verdicts.qaReview, { model: reviewer.agent.model, system: systemPromptOf(reviewer, catalogue) })
      : judged('skipped'),
  ]);
  const tokensUsed = spent.tokens + selfTest.tokens + qaReview.tokens;
  const throttles = spent.throttles + selfTest.throttles + qaReview.throttles;
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
      throttles,
    };
  return {
    status: 'completed',
    output,
    tokensUsed,
    throttles,
    selfTest: selfTest.verdict,
    qaReview: qaReview.verdict,
  };

  /** Fails closed: what gives no verdict, in time, has not passed. A gate that was answered before is not asked again. */
  async function gate(known: GateResult | undefined, judge: { model: string; system: string }): Promise<Judged> {
    if (known) return judged(known);
    const question = { ...judge, user, maxTokens: maxTokensOfGate, effort: 'low' as const, signal };
    const answer = await ask(model, question, pause, triesOfGate, { patienceMs });
    if (answer.kind === 'throttled') return judged(undefined, answer);
    return judged(answer.kind === 'text' ? verdictOf(answer.text) : 'skipped', answer);
  }
}

function isTooLong(output: string): boolean {
  if (Buffer.byteLength(output) > longestOutputBytes) return true;
  return Buffer.byteLength(JSON.stringify(JSON.stringify(output))) > longestOutputPayload;
}

/** What a gate said; `verdict` is `undefined` where its model throttles. */
type Judged = { verdict: GateResult | undefined; tokens: number; throttles: number };

function judged(verdict: GateResult | undefined, { tokens, throttles } = { tokens: 0, throttles: 0 }): Judged {
  return { verdict, tokens, throttles };
}

/** Nobody reviews its own work, and an organization can set its reviewer inactive. */
function mayReview(reviewer: PreparedAgent | undefined, runner: string): reviewer is PreparedAgent {
  return reviewer?.agent.status === 'active' && reviewer.agent.id !== runner;
}
