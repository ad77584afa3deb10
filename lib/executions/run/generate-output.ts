import type { CatalogueSkill } from '../../agents/skill-catalogue.ts';
import { qaReviewer } from '../../agents/system-agents.ts';
import type { Context } from '../../context/context.ts';
import {
  type GateReasons,
  type GateResult,
  noVerdict,
  type QualityGates,
} from '../../contract/executions/quality-gates.ts';
import { startOf } from '../../contract/texts/code-points.ts';
import type { Model, Question } from '../../model/converse.ts';
import type { AgentHead } from '../../table/agents/agent-items.ts';
import { type PreparedAgent, readPreparedAgent } from '../../table/agents/prepared-agents.ts';
import { waitedForModel } from '../../table/executions/error-reasons.ts';
import {
  noProgress,
  type Progress,
  type RunningExecution,
  type TimedCall,
  type Timings,
} from '../../table/executions/execution-items.ts';
import { readDependencyResults, readMaterial } from '../../table/executions/execution-material.ts';
import { readStoredOutput, storeExecutionProgress } from '../../table/executions/executions.ts';
import { LeaseLost } from '../../table/executions/lease-writes.ts';
import { readReviewComments } from '../../tasks/review-comments.ts';
import {
  readPartsOf,
  reviewPromptOf,
  selfTestPrompt,
  systemPromptOf,
  userPromptOf,
  verdictOf,
} from '../prompts/execution-prompts.ts';
import { notePrompt, noteReceived } from '../prompts/note-prompt.ts';
import { type AgentTools, type Ended, runSteps, startedQuestions, storeTokens } from './agent-loop.ts';
import { type Answered, askModel } from './ask-model.ts';
import { agentNotActive } from './changed-agent.ts';
import { type HandOver, isTimeOver, maxInterruptions, noAnswerInTime, noHandOver } from './hand-over.ts';
import { answerTooLong, isTooLong } from './output-size.ts';
import { addLosses, type Spending, startSpending, totalOf, uncountedLosses } from './spending.ts';

/** The models, and the skills of this deployment. Few functions have them, so they are not part of the context. */
export type RunResources = {
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
} & (
    | { status: 'completed'; output: string; gateReasons: GateReasons }
    | { status: 'failed'; error: string; errorReason?: string }
  );

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

/**
 * How often a model is asked, throttled calls not counted. A gate is asked once,
 * or once more if its answer is cut off: a person can review the output instead.
 */
const triesOfOutput = 3;
const triesOfGate = 1;

/** Limits that current models of every family accept. An execution with a longer answer fails. */
export const maxTokensOfOutput = 8_192;
const maxTokensOfGate = 1_024;

/** Why no reviewer judges an output. */
const ownReview = `${qaReviewer} does not judge its own work.`;
const inactiveReviewer = `There is no active agent ${qaReviewer}.`;

/** Why a gate is skipped whose judge did not answer before the deadline, or twice before the end of a worker's time. */
const judgedTooLate = 'The judge did not answer in time.';

/** The error of a model that requests a tool although it was offered none. */
const noTools = 'The model requested a tool, but no tools are available.';

/** The longest stored reason of a gate, in code points. */
const longestReason = 2_000;

/**
 * How long a worker waits for a throttled model before it returns its lease, in milliseconds. All organizations share the
 * workers.
 */
const patienceMs = 5_000;

/**
 * Returns the result of an execution that failed; the gates are skipped.
 *
 * @param hasWaited whether its model throttled since its last finished step
 */
export function failed(error: string, tokens: number, throttles = 0, hasWaited = throttles > 0): Result {
  return {
    ...{ status: 'failed', error, tokensUsed: tokens, throttles, selfTest: 'skipped', qaReview: 'skipped' },
    ...(error === 'deadline' && hasWaited && { errorReason: waitedForModel }),
  };
}

/** Returns whether the model of an execution throttled earlier workers since its last finished step. */
export function hasWaited({ progress = noProgress }: Pick<RunningExecution, 'progress'>): boolean {
  return progress.waits > 0;
}

/**
 * Asks the model of an agent, which may call the tools of the agent, then has the two quality gates judge its answer. It
 * continues from the progress of earlier workers.
 *
 * @param signal aborts at the deadline, when the lease is lost, or when the agent is not active
 * @param latestAgent returns the agent as it was last read in the meantime
 * @param failure the error of an execution that has failed already: only the interrupted calls of its lost workers are
 *   counted
 * @returns how the execution ends, or that another worker has to continue; `undefined` if its agent was deleted
 */
export async function generateOutput(
  context: Context,
  execution: RunningExecution,
  { model, catalogue, agentTools, answeringModel = (name) => name }: RunResources,
  signal: AbortSignal,
  handOver: HandOver = noHandOver,
  latestAgent: () => AgentHead | undefined = () => undefined,
  spending: Spending = startSpending(execution),
  failure?: string,
): Promise<Result | Postponed | undefined> {
  const { organization, agentId, agentName } = execution;
  // Everything is read before a call to a model costs anything.
  const [{ input, task, noted, ...heads }, stored] = await Promise.all([
    readMaterial(context, execution, qaReviewer),
    readStoredOutput(context, execution),
  ]);
  const [prepared, reviewer, dependencies, reviewComments] = await Promise.all([
    heads.agent && readPreparedAgent(context, organization, agentName, heads.agent),
    heads.reviewer && readPreparedAgent(context, organization, qaReviewer, heads.reviewer),
    task && heads.agent?.dependencyResults ? readDependencyResults(context, organization, task.dependsOn) : [],
    task ? readReviewComments(context, organization, task) : [],
  ]);
  if (!input || prepared?.agent.id !== agentId) return undefined;

  const instructions = { ...input, task, dependencies, reviewComments, delegatedBy: execution.delegatedBy };
  const call: ModelCall = { model, signal, handOver, spending };
  const question = {
    model: execution.model,
    system: systemPromptOf(prepared, catalogue),
    user: userPromptOf(instructions),
    maxTokens: maxTokensOfOutput,
  };
  const judge = mayReview(reviewer, agentId) ? reviewer : undefined;
  const gatesOf = (output: string): Gates => {
    const user = reviewPromptOf(instructions, output);
    return {
      selfTest: { model: execution.model, system: selfTestPrompt, user },
      ...(judge
        ? {
            qaReview: {
              model: judge.agent.model,
              system: systemPromptOf(judge, catalogue, { withTools: false }),
              user,
            },
          }
        : { noReview: agentName === qaReviewer ? ownReview : inactiveReviewer }),
    };
  };
  const isOffered = execution.steps !== undefined || agentTools?.grantedTools(prepared.agent.capabilities).length;
  const stepOptions =
    agentTools && isOffered
      ? {
          ...{
            ...call,
            tries: triesOfOutput,
            patienceMs,
            agent: prepared,
            latestAgent,
            agentTools,
            catalogue,
            question,
          },
          modelName: answeringModel(execution.model),
        }
      : undefined;
  if (uncountedLosses(execution) > 0) addLosses(spending, execution, await interruptedQuestions());
  const fails = failure ?? (prepared.agent.status === 'active' ? undefined : agentNotActive);
  if (fails !== undefined) return failed(fails, spending.used, 0, hasWaited(execution));
  if (stored === undefined) notePrompt(execution, prepared);
  noteReceived(execution, noted, { agent: prepared, reviewer: judge, parts: readPartsOf(instructions) });
  const worked = await work();
  const { progress, throttles } = worked;
  const current = worked.execution && { execution: worked.execution };
  if (worked.kind === 'throttled' || worked.kind === 'handed_over')
    return { status: worked.kind, progress, output: undefined, gateReasons: {}, throttles, ...current };
  const { timings } = progress;
  const failedWith = (error: string) => ({
    ...failed(error, spending.used, throttles, throttles > 0 || progress.waits > 0),
    ...(timings && { timings }),
    ...current,
  });
  if (worked.kind === 'aborted') return failedWith('deadline');
  if (worked.kind === 'failed') return failedWith(worked.error);
  const output = worked.text.toWellFormed();
  if (isTooLong(output)) return failedWith(answerTooLong);
  const toJudge = await storeOutput(context, worked.execution ?? execution, output, progress, spending);
  return judgeOutput(context, toJudge.execution, {
    ...{ call, throttles, output },
    ...{ progress: toJudge.progress, gates: gatesOf(output) },
  });

  /** Returns the answer of the agent: the stored answer, or the answer of its steps or of its only model call. */
  async function work(): Promise<Worked> {
    if (stored !== undefined) {
      const { progress: before = noProgress } = execution;
      return { kind: 'text', text: stored, progress: before, throttles: 0 };
    }
    if (!stepOptions) return askOnce(context, execution, call, question);
    const stepped = await runSteps(context, execution, stepOptions);
    return { ...stepped, progress: stepped.execution.progress ?? noProgress };
  }

  /** Returns the questions that a worker of this execution asks first: the questions in which a lost worker was interrupted. */
  async function interruptedQuestions() {
    if (stored === undefined) return stepOptions ? startedQuestions(context, execution, stepOptions) : [question];
    const { verdicts } = execution.progress ?? noProgress;
    const { selfTest, qaReview } = gatesOf(stored);
    return [...(verdicts.selfTest ? [] : [selfTest]), ...(verdicts.qaReview || !qaReview ? [] : [qaReview])];
  }
}

/**
 * Stores the output of an agent without tools before its gates are asked: then a worker that is lost during the gates
 * loses neither the output nor its tokens. After a fault of the table, the end stores it.
 *
 * @returns the execution with its progress, as it is stored then
 * @throws `LeaseLost`
 */
async function storeOutput(
  context: Context,
  execution: RunningExecution,
  output: string,
  progress: Progress,
  spending: Spending,
): Promise<{ execution: RunningExecution; progress: Progress }> {
  if (execution.outputParts !== undefined) return { execution, progress };
  const { lost: _, ...finished } = progress;
  try {
    const stored = await storeExecutionProgress(context, execution, finished, { output });
    spending.stored = progress.tokens;
    return { execution: stored, progress: finished };
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    return { execution, progress };
  }
}

/** The model, what ends a call of it, and what counts its tokens. */
type ModelCall = { model: Model; signal: AbortSignal; handOver: HandOver; spending: Spending };

/** The questions of the gates. A gate without a question is skipped. */
type Gates = { selfTest: GateQuestion } & ({ qaReview: GateQuestion } | { qaReview?: undefined; noReview: string });
type GateQuestion = { model: string; system: string; user: string };

/**
 * The answer of an agent, or why there is none, with the progress of all workers and the throttled calls of this one.
 * `execution` is the execution after its stored steps.
 */
type Worked = Ended & { progress: Progress; throttles: number; execution?: RunningExecution };

/** Asks the model of an agent without tools. */
async function askOnce(
  context: Context,
  execution: RunningExecution,
  { model, signal, handOver, spending }: ModelCall,
  question: Omit<Question, 'signal'>,
): Promise<Worked> {
  const { progress: before = noProgress } = execution;
  const asked = { ...question, signal: AbortSignal.any([signal, handOver.signal]) };
  const onFault = () => storeTokens(context, execution, { ...before, ...totalOf(spending) }, spending);
  const { answered, timings } = await timed(context, execution, before.timings, 'model', () =>
    askModel(context, model, asked, triesOfOutput, { faults: before.faults, patienceMs, spending, onFault }),
  );
  const { throttles } = answered;
  const progress = { ...before, ...totalOf(spending), timings };
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

/**
 * Asks a model, and adds the time and the tokens to the sums of earlier workers. The entry names what this worker gave to the
 * model.
 */
async function timed(
  { clock }: Pick<Context, 'clock'>,
  { startedAt, noted }: RunningExecution,
  before: Timings | undefined,
  name: TimedCall,
  ask: () => Promise<Answered>,
): Promise<{ answered: Answered; timings: Timings }> {
  const sinceStart = () => Math.max(0, clock() - Date.parse(startedAt));
  const { at, tokens } = before?.[name] ?? { at: sinceStart(), tokens: 0 };
  const answered = await ask();
  const ms = Math.max(0, sinceStart() - at);
  const timing = { at, ms, tokens: tokens + answered.tokens, ...(noted && { received: noted.number }) };
  return { answered, timings: { ...before, [name]: timing } };
}

/** An output to judge. */
type Judging = { call: ModelCall; progress: Progress; throttles: number; output: string; gates: Gates };

/**
 * Has the two quality gates judge an output at the same time. If one answers while the other is still asked, its verdict
 * and its tokens are stored.
 */
async function judgeOutput(
  context: Context,
  execution: RunningExecution,
  { call, progress, throttles: before, output, gates }: Judging,
): Promise<Result | Postponed> {
  const { model, signal, handOver, spending } = call;
  const { verdicts, reasons, waits, interruptions = 0 } = progress;
  let { lost } = progress;
  const asking = new Set((['selfTest', 'qaReview'] as const).filter((name) => gates[name] && !verdicts[name]));
  const [selfTest, qaReview] = await Promise.all([
    judge('selfTest', gates.selfTest),
    gates.qaReview ? judge('qaReview', gates.qaReview) : skipped(gates.noReview),
  ]);
  const throttles = before + selfTest.throttles + qaReview.throttles;
  const gateReasons = {
    ...reasons,
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
        ...totalOf(spending),
        ...(lost !== undefined && { lost }),
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
      execution,
    };
  }
  return {
    status: 'completed',
    output,
    gateReasons,
    tokensUsed: spending.used,
    throttles,
    timings,
    selfTest: selfTest.verdict,
    qaReview: qaReview.verdict,
    execution,
  };

  /** Asks a gate, unless its verdict is known. Fails closed: without a verdict in time the output has not passed. */
  async function judge(name: keyof QualityGates, gate: GateQuestion): Promise<Judged> {
    const known = verdicts[name];
    if (known) return judged(known);
    const result = await ask(name, gate);
    asking.delete(name);
    if (asking.size > 0 && result.verdict !== undefined) await storeVerdict(name, result);
    return result;
  }

  /** Stores the verdict of the gate that answers first. If that fails, the next write stores it. */
  async function storeVerdict(name: keyof QualityGates, { verdict, reason, timings }: Judged): Promise<void> {
    // Without its output, a verdict would be about the output of the next worker.
    if (execution.outputParts === undefined) return;
    const { lost: _, ...finished } = progress;
    const current = {
      ...{ ...finished, ...totalOf(spending) },
      verdicts: { ...verdicts, ...(verdict && { [name]: verdict }) },
      ...(reason !== undefined && { reasons: { ...reasons, [name]: reason } }),
      timings: { ...progress.timings, ...timings },
    };
    try {
      await storeExecutionProgress(context, execution, current);
      spending.stored = current.tokens;
      lost = undefined;
    } catch {
      // Also with a lost lease the worker waits for the other gate: it aborts that call, and counts its tokens.
    }
  }

  async function ask(name: keyof QualityGates, gate: GateQuestion): Promise<Judged> {
    const asked = AbortSignal.any([signal, handOver.signal]);
    const question = { ...gate, maxTokens: maxTokensOfGate, effort: 'low' as const, signal: asked };
    const askWith = (maxTokens: number) =>
      askModel(context, model, { ...question, maxTokens }, triesOfGate, { patienceMs, spending });
    const { answered, timings: all } = await timed(context, execution, progress.timings, name, async () => {
      const first = await askWith(maxTokensOfGate);
      if (first.kind !== 'failed' || !first.isCutOff) return first;
      // Models that think may have spent all tokens on thoughts.
      const second = await askWith(maxTokensOfOutput);
      return {
        ...second,
        tokens: first.tokens + second.tokens,
        throttles: first.throttles + second.throttles,
      };
    });
    const { throttles } = answered;
    const spent = { throttles, timings: { [name]: all[name] } };
    if (answered.kind === 'text')
      return { ...spent, verdict: verdictOf(answered.text), reason: reasonOf(answered.text) };
    if (answered.kind === 'throttled') return { ...spent, verdict: undefined };
    const isInterrupted =
      answered.kind === 'aborted' && isTimeOver(signal, handOver) && interruptions + 1 < maxInterruptions;
    if (isInterrupted) return { ...spent, verdict: undefined, isInterrupted };
    return { ...skipped(whyNone(answered)), ...spent };
  }
}

/** Returns why there is no answer of a gate, as a sentence. */
function whyNone(answered: Exclude<Answered, { kind: 'text' | 'throttled' }>): string {
  if (answered.kind === 'aborted') return judgedTooLate;
  return answered.kind === 'failed' ? answered.error : noTools;
}

/** Returns the start of a gate's answer. */
function reasonOf(answer: string): string {
  return startOf(answer.toWellFormed().trim(), longestReason);
}

/** The answer of a gate. `verdict` is `undefined` if its model throttles, or if the time of the worker is over. */
type Judged = {
  verdict: GateResult | undefined;
  reason?: string;
  throttles: number;
  timings?: Timings;
  isInterrupted?: boolean;
};

function judged(verdict: GateResult): Judged {
  return { verdict, throttles: 0 };
}

/** @param why a sentence */
function skipped(why: string): Judged {
  return { ...judged('skipped'), reason: noVerdict + why };
}

/** Whether there is a reviewer that is active and not the agent of the execution. */
function mayReview(reviewer: PreparedAgent | undefined, agentId: string): reviewer is PreparedAgent {
  return reviewer?.agent.status === 'active' && reviewer.agent.id !== agentId;
}
