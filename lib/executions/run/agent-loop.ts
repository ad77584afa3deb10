import type { CatalogueSkill } from '../../agents/skill-catalogue.ts';
import type { Context } from '../../context/context.ts';
import { timestamp } from '../../contract/ids.ts';
import type { Model, Question, ToolCall, ToolDefinition, Turn } from '../../model/converse.ts';
import type { Write } from '../../table/access/write.ts';
import type { AgentHead } from '../../table/agents/agent-items.ts';
import type { PreparedAgent } from '../../table/agents/prepared-agents.ts';
import {
  noProgress,
  outputItems,
  type Progress,
  type RunningExecution,
} from '../../table/executions/execution-items.ts';
import { readStoredOutput, storeExecutionProgress } from '../../table/executions/executions.ts';
import { AgentChanged, LeaseLost, notedFields } from '../../table/executions/lease-writes.ts';
import {
  longestShownBytes,
  type ModelStep,
  readSteps,
  type Step,
  type StepChange,
  StepEnded,
  stepWrites,
  type ToolStep,
  toolStepOf,
  writeSteps,
} from '../../table/executions/steps.ts';
import { startInBytes } from '../../table/text-parts.ts';
import { invalidMessageNote } from '../prompts/execution-prompts.ts';
import { type Answered, askModel } from './ask-model.ts';
import { agentNotActive, readAgain } from './changed-agent.ts';
import { type HandOver, isTimeOver, maxInterruptions, noAnswerInTime } from './hand-over.ts';
import { answerTooLong, isTooLong } from './output-size.ts';
import { faultPausesMs, retryFaults } from './retry-faults.ts';
import { type Spending, totalOf } from './spending.ts';

/** The outcome of a call of a tool: `output` is what the model gets, at most 16 KiB. `isInvalid`: an unknown tool or invalid arguments. */
type ToolOutcome = { output: string; isError: boolean; isInvalid?: true };

/** The tools of agents (`lib/tools/agent-tools.ts`). */
export type AgentTools = {
  /** Returns the tools that capabilities grant. */
  grantedTools: (capabilities: readonly string[]) => ToolDefinition[];
  /**
   * Carries out a call. A change is made in one transaction with the writes of `recordEnd`; then the outcome is recorded.
   */
  callTool: (
    context: Context,
    execution: RunningExecution,
    agent: PreparedAgent,
    catalogue: readonly CatalogueSkill[],
    call: ToolCall,
    recordEnd: (outcome: ToolOutcome) => readonly Write[],
  ) => Promise<{ outcome: ToolOutcome; recorded: boolean }>;
};

/** The data that the steps of an execution need, besides its own items. */
export type StepOptions = {
  /** The agent as the question has it. */
  agent: PreparedAgent;
  /** Returns the agent as it was last read in the meantime; `undefined` if it was not. */
  latestAgent: () => AgentHead | undefined;
  agentTools: AgentTools;
  catalogue: readonly CatalogueSkill[];
  model: Model;
  /** The question to the model, without the exchanges so far. */
  question: Omit<Question, 'turns' | 'tools' | 'signal'>;
  /** The name of the model that answers. */
  modelName: string;
  /** How often a model is asked in a step, and how long a worker waits for a throttled model, in milliseconds. */
  tries: number;
  patienceMs: number;
  /** Aborts at the deadline, when the lease is lost, or when the agent is not active. */
  signal: AbortSignal;
  handOver: HandOver;
  spending: Spending;
};

/** Why no further step follows in this worker. */
export type Ended =
  | { kind: 'text'; text: string }
  | { kind: 'failed'; error: string }
  /** The deadline is over, the lease is lost, or the agent is not active. */
  | { kind: 'aborted' }
  /** A model throttles, or the time of this worker is over. Another worker continues. */
  | { kind: 'throttled' }
  | { kind: 'handed_over' };

/** The result of the steps, and the execution with its current progress. */
export type Stepped = Ended & { execution: RunningExecution; throttles: number };

/** The longest message of a model that requests tools, in bytes as it is stored. An item holds 400 KB. */
const longestMessageBytes = 300_000;
const messageTooLong = 'The message of the model was longer than it may be.';

/** An execution ends after as many messages in a row of which nothing could be carried out. */
const maxInvalidMessages = 3;
const onlyInvalid = 'The model sent three messages in a row whose tool calls were all invalid.';

/** The error of a message that requests tools, but names none. */
const noCalls = 'The model requested a tool, but named none.';

/** The error of an execution whose agent has lost all its tools since it called them. */
const toolsLost = 'The agent has lost its tools; grant them again, and start another execution.';

/**
 * The state of the steps: as they are stored, except for tokens that no write has stored yet; and the agent, whose tools
 * the next step has.
 */
type State = {
  execution: RunningExecution;
  agent: PreparedAgent;
  steps: Step[];
  throttles: number;
  spending: Spending;
};

/**
 * Runs the steps of an execution whose agent has tools. The model is asked, its calls of tools are carried out one after
 * the other, and the model is asked again, until it answers with a text. Each step is noted before it starts, and
 * written when it ends. The change that a tool makes is in the transaction that ends its step. So the next worker continues after the
 * last finished step, and no change is made twice.
 *
 * A tool call ends only if the agent has lost no right since this worker read it. Otherwise the worker reads it again, and
 * repeats the step with the tools that the agent still has.
 *
 * @returns the answer, which is stored then, or why there is none
 * @throws LeaseLost; a fault of the table that lasts
 */
export async function runSteps(context: Context, leased: RunningExecution, options: StepOptions): Promise<Stepped> {
  const { agent, signal, handOver, spending } = options;
  const limits = limitsOf(context, agent);
  const state: State = { execution: leased, agent, steps: await readSteps(context, leased), throttles: 0, spending };
  const result = (ended: Ended): Stepped => ({ ...ended, execution: state.execution, throttles: state.throttles });
  for (let pauses = faultPausesMs.values(); ; ) {
    if (state.agent.agent.status !== 'active') return result({ kind: 'failed', error: agentNotActive });
    const text = await readStoredOutput(context, state.execution);
    if (text !== undefined) return result({ kind: 'text', text });
    const next = nextOf(state.steps, spending.used, limits);
    if (next.kind === 'failed') return result(next);
    if (next.kind === 'answered') throw new Error(`The answer of ${leased.id} is missing.`);
    if (signal.aborted) return result({ kind: 'aborted' });
    if (handOver.isDue()) return result({ kind: 'handed_over' });
    try {
      if (isOutdated(state.agent, options.latestAgent())) throw new AgentChanged();
      const ended = await advance(context, state, next, options, limits);
      if (ended) return result(ended);
      pauses = faultPausesMs.values();
    } catch (error) {
      if (error instanceof LeaseLost) throw error;
      if (!(error instanceof StepEnded || error instanceof AgentChanged)) {
        const { value: wait } = pauses.next();
        if (wait === undefined) throw error;
        await context.pause(wait, signal);
      }
      Object.assign(state, await reloaded(context, state.execution));
      spending.stored = progressOf(state).tokens;
    }
  }
}

type Limits = { steps: number; tokens: number };

/** Returns the limits of an execution: the limits of the deployment, or lower limits of the agent. */
function limitsOf({ executionLimits: { steps, tokens } }: Context, { agent }: PreparedAgent): Limits {
  return { steps: Math.min(steps, agent.maxSteps ?? steps), tokens: Math.min(tokens, agent.maxTokens ?? tokens) };
}

const progressOf = ({ execution: { progress = noProgress } }: State): Progress => progress;

/** Returns the progress with all tokens, for a write that ends no step. */
const currentProgress = (state: State): Progress => ({ ...progressOf(state), ...totalOf(state.spending) });

/** Returns whether an agent was changed since it was read; `latest` is what a later read found. */
function isOutdated({ agent }: PreparedAgent, latest: AgentHead | undefined): boolean {
  return latest !== undefined && latest.version > agent.version;
}

/** Returns the execution, its agent and its steps as they are stored now. */
async function reloaded(context: Context, execution: RunningExecution): Promise<Omit<State, 'throttles' | 'spending'>> {
  const { execution: head, agent } = await readAgain(context, execution);
  // What the worker has noted is stored by its next write.
  const { promptHash, noted } = execution;
  return {
    execution: { ...head, ...(promptHash && { promptHash }), ...(noted && { noted }) },
    agent,
    steps: await readSteps(context, head),
  };
}

/** The next step; `isStarted` if its start is written already. Or why no further step follows. */
type Next = { kind: 'failed'; error: string } | { kind: 'answered' } | NextStep;
type NextStep =
  | { kind: 'model'; number: number; isStarted: boolean }
  | { kind: 'tool'; number: number; isStarted: boolean; call: ToolCall };

/** A message of the model, with the finished calls of tools that it requested. */
type Message = { model: ModelStep; tools: ToolStep[] };

function messagesOf(finished: readonly Step[]): Message[] {
  const messages: Message[] = [];
  for (const step of finished)
    if (step.kind === 'model') messages.push({ model: step, tools: [] });
    else messages.at(-1)?.tools.push(step);
  return messages;
}

const isFinished = ({ durationMs }: Step): boolean => durationMs !== undefined;

/** Decides which step follows. It depends only on what is stored, so that each worker decides the same. */
function nextOf(steps: readonly Step[], tokens: number, limits: Limits): Next {
  const finished = steps.filter(isFinished);
  const messages = messagesOf(finished);
  const last = messages.at(-1);
  if (last?.model.error !== undefined && !last.model.isMalformed) return { kind: 'failed', error: last.model.error };
  const latest = messages.slice(-maxInvalidMessages);
  if (latest.length === maxInvalidMessages && latest.every(isInvalid)) return { kind: 'failed', error: onlyInvalid };
  if (last && !last.model.calls && !last.model.isMalformed) return { kind: 'answered' };
  const number = finished.length + 1;
  const isStarted = steps.length >= number;
  if (number > limits.steps) return { kind: 'failed', error: 'step_limit' };
  const call = last?.model.calls?.[last.tools.length];
  if (call) return { kind: 'tool', number, isStarted, call };
  if (tokens >= limits.tokens && !isStarted) return { kind: 'failed', error: 'token_limit' };
  return { kind: 'model', number, isStarted };
}

/** Returns whether nothing of a message could be carried out: it was malformed, or each of its calls was invalid. */
function isInvalid({ model: { isMalformed, calls = [] }, tools }: Message): boolean {
  return isMalformed === true || (calls.length > 0 && calls.every((_, at) => tools[at]?.isInvalid));
}

/** Returns the exchanges of finished steps, as the model gets them. */
function turnsOf(finished: readonly Step[]): Turn[] {
  return messagesOf(finished).map(({ model: { content, error = '' }, tools }) => {
    if (content === undefined) return { note: invalidMessageNote(error) };
    const results = tools.map(({ callId, output = '', isError = false }) => ({ id: callId, output, isError }));
    return { content, results };
  });
}

/** Writes the start of the next step, or carries it out if it is written. Returns why no further step follows, if so. */
async function advance(
  context: Context,
  state: State,
  next: NextStep,
  options: StepOptions,
  limits: Limits,
): Promise<Ended | undefined> {
  if (!next.isStarted) {
    const change = { started: startedStep(context, next, options), progress: currentProgress(state) };
    await writeSteps(context, state.execution, change);
    note(state, change);
    return undefined;
  }
  const step = state.steps.at(-1) as Step;
  if (step.kind === 'model') return askInStep(context, state, step, options, limits);
  await callInStep(context, state, step, (next as { call: ToolCall }).call, options, limits);
  return undefined;
}

function startedStep({ clock }: Context, next: NextStep, { modelName }: StepOptions): Step {
  const { number } = next;
  const startedAt = timestamp(clock());
  if (next.kind === 'model') return { number, kind: 'model', name: modelName, startedAt };
  return toolStepOf(number, next.call, startedAt);
}

/** Returns the change that ends a step, and starts the step that follows it. */
function endOf(
  context: Context,
  { steps, spending }: State,
  ended: Step,
  options: StepOptions,
  limits: Limits,
): StepChange {
  const { startedAt } = ended;
  const durationMs = Math.max(0, context.clock() - Date.parse(startedAt));
  const finished = { ...ended, durationMs };
  const following = nextOf([...steps.filter(isFinished), finished], spending.used, limits);
  return {
    ended: finished,
    ...('number' in following && { started: startedStep(context, following, options) }),
    progress: { ...noProgress, ...totalOf(spending) },
  };
}

/** Notes a change that was written. */
function note(state: State, { ended, started, progress }: StepChange, outputParts = 0): void {
  const { step, ...execution } = state.execution;
  state.spending.stored = progress.tokens;
  state.steps = [...state.steps.filter(isFinished), ended, started].filter((step) => step !== undefined);
  state.execution = {
    ...execution,
    ...notedFields(execution),
    steps: state.steps.length,
    progress,
    ...(started && { step: { kind: started.kind, name: started.name, startedAt: started.startedAt } }),
    ...(ended && { claims: 1 }),
    ...(outputParts > 0 && { outputParts }),
  };
}

/** Returns the question of the next model call, without its signal. */
function questionOf(steps: readonly Step[], { agent }: PreparedAgent, { question, agentTools }: StepOptions) {
  const tools = agentTools.grantedTools(agent.capabilities);
  return { ...question, turns: turnsOf(steps.filter(isFinished)), tools };
}

/** Returns the question of the model call that has started in the last stored step; none if it is a call of a tool. */
export async function startedQuestions(context: Context, execution: RunningExecution, options: StepOptions) {
  if (execution.step?.kind !== 'model') return [];
  return [questionOf(await readSteps(context, execution), options.agent, options)];
}

/**
 * Stores the tokens of a call that failed temporarily. After a fault of the table, a later write stores them.
 *
 * @throws `LeaseLost`
 */
export async function storeTokens(
  context: Context,
  execution: RunningExecution,
  progress: Progress,
  spending: Spending,
): Promise<void> {
  try {
    await storeExecutionProgress(context, execution, progress, { isFinished: false });
    spending.stored = progress.tokens;
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
  }
}

/** Asks the model in a step, and ends the step. Its answer is stored, so that no worker pays for it again. */
async function askInStep(
  context: Context,
  state: State,
  step: ModelStep,
  options: StepOptions,
  limits: Limits,
): Promise<Ended | undefined> {
  const { signal, handOver, model, tries, patienceMs, spending } = options;
  const before = progressOf(state);
  const asking = AbortSignal.any([signal, handOver.signal]);
  const question = { ...questionOf(state.steps, state.agent, options), signal: asking };
  const onFault = () => storeTokens(context, state.execution, currentProgress(state), spending);
  const isAsked = question.tools.length > 0;
  const { noted } = state.execution;
  const asked: Answered = isAsked
    ? await askModel(context, model, question, tries, { faults: before.faults, patienceMs, spending, onFault })
    : { kind: 'failed', error: toolsLost, tokens: 0, throttles: 0 };
  const interruptions = (before.interruptions ?? 0) + 1;
  state.throttles += asked.throttles;
  const continued = (progress: Partial<Progress>) => {
    state.execution = { ...state.execution, progress: { ...currentProgress(state), ...progress } };
  };
  if (asked.kind === 'throttled') {
    continued({ waits: before.waits + 1, faults: asked.faults });
    return { kind: 'throttled' };
  }
  if (asked.kind === 'aborted' && !isTimeOver(signal, handOver)) {
    continued({});
    return { kind: 'aborted' };
  }
  if (asked.kind === 'aborted' && interruptions < maxInterruptions) {
    continued({ interruptions });
    return { kind: 'handed_over' };
  }
  const ended: ModelStep = {
    ...{ ...step, tokensUsed: asked.tokens, ...answerIn(asked) },
    ...(isAsked && noted && { received: noted.number }),
  };
  const change = endOf(context, state, ended, options, limits);
  const isAnswer = asked.kind === 'text' && ended.error === undefined;
  const outputs = isAnswer ? outputItems(state.execution, asked.text.toWellFormed()) : [];
  await retryWrite(context, signal, () => writeSteps(context, state.execution, change, outputs));
  note(state, change, outputs.length);
  return undefined;
}

/** Returns the fields of a step for the answer of its model. */
function answerIn(asked: Exclude<Answered, { kind: 'throttled' }>): Partial<Omit<ModelStep, 'kind'>> {
  if (asked.kind === 'aborted') return { error: noAnswerInTime };
  if (asked.kind === 'failed') return { error: asked.error };
  if (asked.kind === 'malformed') return { error: asked.error, isMalformed: true };
  const text = asked.text.toWellFormed();
  if (asked.kind === 'text') return isTooLong(text) ? { error: answerTooLong } : shown(text);
  const { content, calls } = asked;
  if (calls.length === 0) return { error: noCalls, isMalformed: true };
  const bytes = Buffer.byteLength(content) + Buffer.byteLength(JSON.stringify(calls));
  return bytes > longestMessageBytes ? { error: messageTooLong } : { ...shown(text), content, calls };
}

function shown(text: string): Pick<ModelStep, 'output' | 'truncated'> {
  const output = startInBytes(text, longestShownBytes);
  return { output, ...(output !== text && { truncated: true }) };
}

/** Carries out a call of a tool in a step, and ends the step. */
async function callInStep(
  context: Context,
  state: State,
  step: ToolStep,
  call: ToolCall,
  options: StepOptions,
  limits: Limits,
): Promise<void> {
  const { execution, agent } = state;
  const { agentTools, catalogue } = options;
  const changeOf = ({ output, isError, isInvalid: invalid }: ToolOutcome): StepChange => {
    const ended: ToolStep = { ...step, output: output.toWellFormed(), isError, ...(invalid && { isInvalid: true }) };
    return endOf(context, state, ended, options, limits);
  };
  const { outcome, recorded } = await agentTools.callTool(context, execution, agent, catalogue, call, (made) =>
    stepWrites(execution, changeOf(made)),
  );
  const change = changeOf(outcome);
  if (!recorded) await writeSteps(context, execution, change);
  note(state, change);
}

/** Makes a write of a paid answer, and repeats it after a fault of the table. */
function retryWrite(context: Context, signal: AbortSignal, write: () => Promise<void>): Promise<void> {
  return retryFaults(write, {
    isFinal: (error) => error instanceof LeaseLost || error instanceof StepEnded,
    pause: (wait) => context.pause(wait, signal),
  });
}
