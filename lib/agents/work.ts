import type { GateResult, QualityGates } from '../contract/executions.ts';
import type { Model } from '../model/converse.ts';
import type { AgentStore, PreparedAgent } from '../table/agents.ts';
import type { RunningExecution } from '../table/execution-items.ts';
import type { ExecutionStore } from '../table/executions.ts';
import type { TaskStore } from '../table/tasks.ts';
import { ask, type Pause } from './asking.ts';
import { requestOf, reviewOf, selfTestPrompt, systemPromptOf, verdictOf } from './prompts.ts';
import type { CatalogueSkill } from './skill-catalogue.ts';
import { qaReviewer } from './system-agents.ts';

/** What only the function that runs executions has: the models, and the skills of this deployment. */
export type Tools = { model: Model; catalogue: readonly CatalogueSkill[] };

/** What an execution has come to. */
export type Result = QualityGates & { tokensUsed: number; throttles: number } & (
    | { status: 'completed'; output: string }
    | { status: 'failed'; error: string }
  );

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

/** An execution that failed; nobody judges what it may have made. */
export function failed(error: string, { tokens, throttles } = { tokens: 0, throttles: 0 }): Result {
  return { status: 'failed', error, tokensUsed: tokens, throttles, selfTest: 'skipped', qaReview: 'skipped' };
}

/**
 * Does the work of an execution: asks its agent's model, then has what it hands in judged by the two gates.
 *
 * @param signal aborts when the time is up, or the execution is lost
 * @returns what it has come to; `undefined` where its agent was deleted, whose purge does the rest
 */
export async function work(
  execution: RunningExecution,
  { store, agents, tasks, pause }: { store: ExecutionStore; agents: AgentStore; tasks: TaskStore; pause: Pause },
  { model, catalogue }: Tools,
  signal: AbortSignal,
): Promise<Result | undefined> {
  const { organization, agentId, agentName, taskId } = execution;
  // All that is needed is read before a model is paid for.
  const [prepared, asked, task, reviewer] = await Promise.all([
    agents.prepared(organization, agentName),
    store.asked(execution),
    taskId === undefined ? undefined : tasks.get(organization, taskId),
    agents.prepared(organization, qaReviewer),
  ]);
  if (!asked || prepared?.agent.id !== agentId) return undefined;

  const given = { ...asked, task, delegatedBy: execution.delegatedBy };
  const answered = await ask(
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
  );
  if (answered.kind === 'aborted') return failed('deadline', answered);
  if (answered.kind === 'failed') return failed(answered.error, answered);
  const output = answered.text.toWellFormed();
  if (isTooLong(output)) return failed('The answer of the model was longer than it may be.', answered);

  const user = reviewOf(given, output);
  const [selfTest, qaReview] = await Promise.all([
    gate({ model: execution.model, system: selfTestPrompt }),
    mayReview(reviewer, agentId)
      ? gate({ model: reviewer.agent.model, system: systemPromptOf(reviewer, catalogue) })
      : notAsked,
  ]);
  return {
    status: 'completed',
    output,
    tokensUsed: answered.tokens + selfTest.tokens + qaReview.tokens,
    throttles: answered.throttles + selfTest.throttles + qaReview.throttles,
    selfTest: selfTest.verdict,
    qaReview: qaReview.verdict,
  };

  /** Fails closed: what gives no verdict, in time, has not passed. */
  async function gate(judge: { model: string; system: string }): Promise<Judged> {
    const answer = await ask(model, { ...judge, user, maxTokens: maxTokensOfGate, signal }, pause, triesOfGate);
    return {
      verdict: answer.kind === 'text' ? verdictOf(answer.text) : 'skipped',
      tokens: answer.tokens,
      throttles: answer.throttles,
    };
  }
}

function isTooLong(output: string): boolean {
  if (Buffer.byteLength(output) > longestOutputBytes) return true;
  return Buffer.byteLength(JSON.stringify(JSON.stringify(output))) > longestOutputPayload;
}

type Judged = { verdict: GateResult; tokens: number; throttles: number };

const notAsked: Judged = { verdict: 'skipped', tokens: 0, throttles: 0 };

/** Nobody reviews its own work, and an organization can set its reviewer inactive. */
function mayReview(reviewer: PreparedAgent | undefined, runner: string): reviewer is PreparedAgent {
  return reviewer?.agent.status === 'active' && reviewer.agent.id !== runner;
}
