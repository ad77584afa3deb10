import type { CatalogueSkill } from '../agents/skill-catalogue.ts';
import { qaReviewer } from '../agents/system-agents.ts';
import type { Context } from '../context.ts';
import { startOf } from '../contract/code-points.ts';
import type { GateReasons, GateResult, QualityGates } from '../contract/executions.ts';
import type { Model, Question } from '../model/converse.ts';
import type { AgentHead } from '../table/agents/agent-items.ts';
import { type PreparedAgent, readPreparedAgent } from '../table/agents/prepared-agents.ts';
import {
  noProgress,
  type Progress,
  type RunningExecution,
  type TimedCall,
  type Timings,
} from '../table/executions/execution-items.ts';
import { readMaterial } from '../table/executions/execution-material.ts';
import { readStoredOutput } from '../table/executions/executions.ts';
import { type AgentTools, type Ended, runSteps } from './agent-loop.ts';
import { type Answered, askModel } from './ask-model.ts';
import { agentNotActive } from './changed-agent.ts';
import { type HandOver, isTimeOver, maxInterruptions, noAnswerInTime, noHandOver } from './hand-over.ts';
import { notePrompt } from './note-prompt.ts';
import { answerTooLong, isTooLong } from './output-size.ts';
import { reviewPromptOf, selfTestPrompt, systemPromptOf, userPromptOf, verdictOf } from './prompts.ts';

/** The models, and the skills of this deployment. Few functions have them, so they are not part of the context. */
export type Tools = {
  model: Model;
  /** Returns the name of the model that answers questions to a model; that model if absent. */
  answeringModel?: (model: string) => string;
  catalogue: readonly CatalogueSkill[];
  /** The tools of agents. Without them, agents have none. */
  agentTools?: AgentTools;
};

/** How an execution ends. */
export type Result = QualityGates & {
  tokensUsed: number;
  throttles: number;
  timings?: Timings;
  /** The execution after its steps, if it has stored ones. */
  execution?: RunningExecution;
} & ({ status: 'completed'; output: string; gateReasons: GateReasons } | { status: 'failed'; error: string });

/**
 * A model throttles, or the time of the worker is over: the worker returns its lease, and another worker continues from
 * this progress.
 */
export type Postponed = {
  status: 'throttled' | 'handed_over';
  progress: Progress;
  /** The output, if there is one that is not stored yet. */
  output: string | undefined;
  /** The reasons of the gates that have answered. */
  gateReasons: GateReasons;
  throttles: number;
  /** The execution after its steps, if it has stored ones. */
  execution?: RunningExecution;
};

/** How often a model is asked, throttled calls not counted. A gate is asked once: a person can review the output instead. */
const triesOfOutput = 3;
const triesOfGate = 1;

/** Limits that current models of every family accept. An execution with a longer answer fails. */
const maxTokensOfOutput = 8_192;
const maxTokensOfGate = 1_024;

/** The error of a model that requests a tool although it was offered none. */
const noTools = 'The model requested a tool, but no tools are available.';

/** The longest stored reason of a gate, in code points. */
const longestReason = 2_000;

/**
 * How long a worker waits for a throttled model before it returns its lease, in milliseconds. All organizations share the
 * workers.
 */
const patienceMs = 5_000;

/** Returns the result of an execution that failed; the gates are skipped. */
export function failed(error: string, { tokens, throttles } = { tokens: 0, throttles: 0 }): Result {
  return { status: 'failed', error, tokensUsed: tokens, throttles, selfTest: 'skipped', qaReview: 'skipped' };
}

/**
 * Asks the model of an agent, which may call the tools of the agent, then has the two quality gates judge its answer. It
 * continues from the progress of earlier workers.
 *
 * @param signal aborts at the deadline, when the lease is lost, or when the agent is not active
 * @param latestAgent returns the agent as it was last read in the meantime
 * @returns how the execution ends, or that another worker has to continue; `undefined` if its agent was deleted
 */
export async function generateOutput(
  context: Context,
  execution: RunningExecution,
  { model, catalogue, agentTools, answeringModel = (name) => name }: Tools,
  signal: AbortSignal,
  handOver: HandOver = noHandOver,
  latestAgent: () => AgentHead | undefined = () => undefined,
): Promise<Result | Postponed | undefined> {
  const { organization, agentId, agentName } = execution;
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
  if (prepared.agent.status !== 'active')
    return failed(agentNotActive, { tokens: execution.progress?.tokens ?? 0, throttles: 0 });
  if (stored === undefined) notePrompt(execution, prepared);

  const instructions = { ...input, task, delegatedBy: execution.delegatedBy };
  const call: ModelCall = { model, signal, handOver };
  const question = {
    model: execution.model,
    system: systemPromptOf(prepared, catalogue),
    user: userPromptOf(instructions),
    maxTokens: maxTokensOfOutput,
  };
  const worked = await work();
  const { progress, throttles } = worked;
  const current = worked.execution && { execution: worked.execution };
  if (worked.kind === 'throttled' || worked.kind === 'handed_over')
    return { status: worked.kind, progress, output: undefined, gateReasons: {}, throttles, ...current };
  const spent = { tokens: progress.tokens, throttles };
  const { timings } = progress;
  const failedWith = (error: string) => ({ ...failed(error, spent), ...(timings && { timings }), ...current });
  if (worked.kind === 'aborted') return failedWith('deadline');
  if (worked.kind === 'failed') return failedWith(worked.error);
  const output = worked.text.toWellFormed();
  if (isTooLong(output)) return failedWith(answerTooLong);
  const judged = await judgeOutput(context, worked.execution ?? execution, {
    ...{ call, progress, throttles, output, user: reviewPromptOf(instructions, output) },
    selfTest: { model: execution.model, system: selfTestPrompt },
    qaReview: mayReview(reviewer, agentId)
      ? { model: reviewer.agent.model, system: systemPromptOf(reviewer, catalogue, { withTools: false }) }
      : undefined,
  });
  return { ...judged, ...current };

  /** Returns the answer of the agent: the stored one, that of its steps, or that of its only model call. */
  async function work(): Promise<Worked> {
    const { agent } = prepared as PreparedAgent;
    if (stored !== undefined) {
      const { progress: before = noProgress } = execution;
      return { kind: 'text', text: stored, progress: before, throttles: 0 };
    }
    const isOffered = execution.steps !== undefined || agentTools?.grantedTools(agent.capabilities).length;
    if (!agentTools || !isOffered) return askOnce(context, execution, call, question);
    const modelName = answeringModel(execution.model);
    const budget = { tries: triesOfOutput, patienceMs };
    const options = {
      ...call,
      ...budget,
      agent: prepared as PreparedAgent,
      latestAgent,
      agentTools,
      catalogue,
      question,
      modelName,
    };
    const stepped = await runSteps(context, execution, options);
    return { ...stepped, progress: stepped.execution.progress ?? noProgress };
  }
}

/** The model, and what ends a call of it. */
type ModelCall = { model: Model; signal: AbortSignal; handOver: HandOver };

/**
 * The answer of an agent, or why there is none, with the progress of all workers and the throttled calls of this one.
 * `execution` is the execution after its stored steps.
 */
type Worked = Ended & { progress: Progress; throttles: number; execution?: RunningExecution };

/** Asks the model of an agent without tools. */
async function askOnce(
  context: Context,
  execution: RunningExecution,
  { model, signal, handOver }: ModelCall,
  question: Omit<Question, 'signal'>,
): Promise<Worked> {
  const { progress: before = noProgress } = execution;
  const asked = { ...question, signal: AbortSignal.any([signal, handOver.signal]) };
  const { answered, timings } = await timed(context, execution, before.timings, 'model', () =>
    askModel(context, model, asked, triesOfOutput, { faults: before.faults, patienceMs }),
  );
  const { throttles } = answered;
  const progress = { ...before, tokens: before.tokens + answered.tokens, timings };
  if (answered.kind === 'throttled')
    return {
      ...{ kind: 'throttled', throttles },
      progress: { ...progress, waits: before.waits + 1, faults: answered.faults },
    };
  if (answered.kind === 'aborted' && isTimeOver(signal, handOver)) {
    const interruptions = (before.interruptions ?? 0) + 1;
    return interruptions < maxInterruptions
      ? { kind: 'handed_over', throttles, progress: { ...progress, interruptions } }
      : { kind: 'failed', throttles, progress, error: noAnswerInTime };
  }
  if (answered.kind === 'tools' || answered.kind === 'malformed')
    return { kind: 'failed', throttles, progress, error: noTools };
  if (answered.kind === 'aborted') return { kind: 'aborted', throttles, progress };
  return answered.kind === 'text'
    ? { kind: 'text', text: answered.text, throttles, progress: { ...progress, interruptions: 0 } }
    : { kind: 'failed', error: answered.error, throttles, progress };
}

/** Asks a model, and adds the time and the tokens to those of earlier workers. */
async function timed(
  { clock }: Pick<Context, 'clock'>,
  { startedAt }: RunningExecution,
  before: Timings | undefined,
  name: TimedCall,
  ask: () => Promise<Answered>,
): Promise<{ answered: Answered; timings: Timings }> {
  const sinceStart = () => Math.max(0, clock() - Date.parse(startedAt));
  const { at, tokens } = before?.[name] ?? { at: sinceStart(), tokens: 0 };
  const answered = await ask();
  const timing = { at, ms: Math.max(0, sinceStart() - at), tokens: tokens + answered.tokens };
  return { answered, timings: { ...before, [name]: timing } };
}

/** An output to judge. A gate without a question is skipped. */
type Judging = {
  call: ModelCall;
  progress: Progress;
  throttles: number;
  output: string;
  user: string;
  selfTest: { model: string; system: string };
  qaReview: { model: string; system: string } | undefined;
};

/** Has the two quality gates judge an output at the same time. */
async function judgeOutput(
  context: Context,
  execution: RunningExecution,
  { call, progress, throttles: before, output, user, ...judging }: Judging,
): Promise<Result | Postponed> {
  const { model, signal, handOver } = call;
  const { tokens, verdicts, waits, interruptions = 0 } = progress;
  const [selfTest, qaReview] = await Promise.all([
    judge('selfTest', judging.selfTest),
    judging.qaReview ? judge('qaReview', judging.qaReview) : judged('skipped'),
  ]);
  const tokensUsed = tokens + selfTest.tokens + qaReview.tokens;
  const throttles = before + selfTest.throttles + qaReview.throttles;
  const gateReasons = {
    ...(selfTest.reason !== undefined && { selfTest: selfTest.reason }),
    ...(qaReview.reason !== undefined && { qaReview: qaReview.reason }),
  };
  const timings = { ...progress.timings, ...selfTest.timings, ...qaReview.timings };
  if (selfTest.verdict === undefined || qaReview.verdict === undefined) {
    const isInterrupted = selfTest.isInterrupted || qaReview.isInterrupted;
    return {
      status: isInterrupted ? 'handed_over' : 'throttled',
      progress: {
        waits: isInterrupted ? waits : waits + 1,
        faults: 0,
        tokens: tokensUsed,
        verdicts: {
          ...(selfTest.verdict && { selfTest: selfTest.verdict }),
          ...(qaReview.verdict && { qaReview: qaReview.verdict }),
        },
        ...(isInterrupted && { interruptions: interruptions + 1 }),
        timings,
      },
      output: execution.outputParts === undefined ? output : undefined,
      gateReasons,
      throttles,
    };
  }
  return {
    status: 'completed',
    output,
    gateReasons,
    tokensUsed,
    throttles,
    timings,
    selfTest: selfTest.verdict,
    qaReview: qaReview.verdict,
  };

  /** Asks a gate, unless its verdict is known. Fails closed: without a verdict in time the output has not passed. */
  async function judge(name: 'selfTest' | 'qaReview', gate: { model: string; system: string }): Promise<Judged> {
    const known = verdicts[name];
    if (known) return judged(known);
    const asked = AbortSignal.any([signal, handOver.signal]);
    const question = { ...gate, user, maxTokens: maxTokensOfGate, effort: 'low' as const, signal: asked };
    const { answered, timings: all } = await timed(context, execution, progress.timings, name, () =>
      askModel(context, model, question, triesOfGate, { patienceMs }),
    );
    const spent = { ...judged('skipped', answered), timings: { [name]: all[name] } };
    if (answered.kind === 'text')
      return { ...spent, verdict: verdictOf(answered.text), reason: reasonOf(answered.text) };
    if (answered.kind === 'throttled') return { ...spent, verdict: undefined };
    const isInterrupted =
      answered.kind === 'aborted' && isTimeOver(signal, handOver) && interruptions + 1 < maxInterruptions;
    return isInterrupted ? { ...spent, verdict: undefined, isInterrupted } : spent;
  }
}

/** Returns the start of a gate's answer. */
function reasonOf(answer: string): string {
  return startOf(answer.toWellFormed().trim(), longestReason);
}

/** The answer of a gate. `verdict` is `undefined` if its model throttles, or if the time of the worker is over. */
type Judged = {
  verdict: GateResult | undefined;
  reason?: string;
  tokens: number;
  throttles: number;
  timings?: Timings;
  isInterrupted?: boolean;
};

function judged(verdict: GateResult | undefined, { tokens, throttles } = { tokens: 0, throttles: 0 }): Judged {
  return { verdict, tokens, throttles };
}

/** Whether there is a reviewer that is active and another agent than that of the execution. */
function mayReview(reviewer: PreparedAgent | undefined, agentId: string): reviewer is PreparedAgent {
  return reviewer?.agent.status === 'active' && reviewer.agent.id !== agentId;
}
