import type { Actor } from '../../contract/actors.ts';
import type {
  Delegation,
  Execution,
  ExecutionListItem,
  ExecutionStatus,
} from '../../contract/executions/executions.ts';
import type { GateReasons, GateResult, QualityGates } from '../../contract/executions/quality-gates.ts';
import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { authorship, requestFields } from '../access/current-request.ts';
import { type Key, keys, organizationOf } from '../access/keys.ts';
import { Conflict } from '../access/transact.ts';
import type { Item, Write } from '../access/write.ts';
import { dueEntry } from '../lists/due.ts';
import { partsOf } from '../text-parts.ts';
import type { TaskFields } from '../webhooks/task-filters.ts';
import { errorReasonOf, isErrorCode } from './error-reasons.ts';
import type { Noted } from './received.ts';

/** The kind of the heads of executions in the stream. */
export const executionKind = 'execution';

/** The partition of the sweeper's index that lists executions. */
export const executionPartition = 'execution';

/** An execution as its head stores it: without its input and output. */
export type ExecutionHead = Omit<Execution, 'input' | 'context' | 'output' | 'qualityGates' | 'currentStep'> & {
  organization: Organization;
  agentId: string;
  /** The fields of its task that filters of webhooks match, at its start, and at its end once it has ended. */
  taskFields?: TaskFields;
  selfTest: GateResult;
  qaReview: GateResult;
  /** The name of the delegating agent, if the execution was delegated. */
  delegatedBy?: string;
  /** Present if the service has started it on a task of its agent. */
  autoRun?: true;
  /**
   * The ids of the agents in its chain of delegations, and of tasks that one agent creates or assigns for another, from the first
   * on. None of them may get the task again.
   */
  ancestors?: string[];
  /** The number of delegations in its chain. */
  depth?: number;
  /**
   * The ids of the executions in whose course it was delegated, from the first on. Absent if a request delegated it, and on
   * items of versions without this attribute.
   */
  delegatedIn?: string[];
  /** The id of the request that started it, if known. */
  requestId?: string;
  /** Who has started it, and, once it has ended, who has ended it. Absent on items of versions without this attribute. */
  by?: Actor;
  /** Whether its start, and once it has ended, its end, has moved its task: then the history of the task follows from that. */
  movesTask?: boolean;
  /**
   * How its lists, its steps and the reasons of its gates are written (`execution-lists.ts`, `steps.ts`). Absent on executions in
   * the form of version 0.2.0.
   */
  form?: 2;
  /** The number of leases that were not returned: the current lease, and the leases of lost workers. */
  claims: number;
  /** The id of the lease: only its holder may end the execution. */
  claim?: string;
  /**
   * A random mark, new each time that its agent is deactivated, deleted or loses a capability while the execution runs. A
   * worker that has read another one stores no result (`resultWrite`).
   */
  agentMark?: string;
  /** When the lease expires; ISO 8601. No other worker may lease the execution before that. */
  leaseUntil?: string;
  /** When a worker first leased it; ISO 8601. Absent before that, and on items of versions without this attribute. */
  firstLeasedAt?: string;
  /** The results of its workers before they returned their leases. */
  progress?: Progress;
  /** The last lease whose holder stored tokens, and the tokens of `progress` or of the end that it stored. */
  lastStored?: { claim: string; tokens: number };
  /** Tokens of workers that had lost their leases. The end adds them to `tokensUsed`; the counter of the day has them. */
  late?: LateTokens;
  /** The number of items that hold its output, so that a read can tell whether it has found all of them. */
  outputParts?: number;
  /**
   * What the gates answered, if the output was stored before the end. Otherwise the first item of the output has it, as on
   * executions without `form`.
   */
  gateReasons?: GateReasons;
  /** The number of its steps that have started, without calls that have no stored step. Absent for an agent without tools. */
  steps?: number;
  /** The step that has started and not ended. It is stored at its end; without `form` its start has an item, too. */
  step?: { kind: 'model' | 'tool'; name: string; startedAt: string };
  /** The times and the tokens of its model calls that have no stored step. */
  timings?: Timings;
  /** The number of the last item that says what its models received (`received.ts`). Absent before the first. */
  received?: number;
};

/** The model calls without a stored step: the call of an agent without tools, and the calls of the quality gates. */
export type TimedCall = 'model' | 'selfTest' | 'qaReview';

/**
 * The start of each model call in milliseconds from the start of the execution, its duration, its tokens, and the number of
 * what it received.
 */
export type Timings = Partial<Record<TimedCall, { at: number; ms: number; tokens: number; received?: number }>>;

/**
 * The progress of an execution, written when a worker returns its lease because a model throttles or its own time is
 * over, and when a step ends.
 */
export type Progress = {
  /** The number of leases that were returned because a model throttled, since the last finished step. */
  waits: number;
  /** The number of temporary faults of the agent's model. */
  faults: number;
  /** Tokens of all calls to models. */
  tokens: number;
  /** Whether a part of the tokens is the estimated input of calls that were interrupted. */
  estimated?: true;
  /** The number of workers that were lost since the last finished step, and whose interrupted calls are in `tokens`. */
  lost?: number;
  /** The verdicts of the quality gates that have answered. */
  verdicts: Partial<QualityGates>;
  /** What the gates answered, as far as it is not stored with the output. */
  reasons?: GateReasons;
  /** The number of times that the end of a worker's time interrupted the current model call. */
  interruptions?: number;
  timings?: Timings;
};

/** Tokens that were used, and whether a part of them is estimated. */
export type Spent = Pick<Progress, 'tokens' | 'estimated'>;

/** Tokens that workers counted after they had lost their leases, with the ids of these leases. Each counts once. */
export type LateTokens = Spent & { claims: string[] };

export const noProgress: Progress = { waits: 0, faults: 0, tokens: 0, verdicts: {} };

/** An execution that is running. `noted` is what its worker gives to models; the next write stores it if it is new. */
export type RunningExecution = ExecutionHead & { status: 'running'; noted?: Noted };

export function isRunning(execution: ExecutionHead): execution is RunningExecution {
  return execution.status === 'running';
}

/** Returns whether the lists and steps of an execution are written as version 0.2.0 did it. */
export function isFormer({ form }: Pick<ExecutionHead, 'form'>): boolean {
  return form === undefined;
}

/** The input of an execution, with its optional context. */
export type ExecutionInput = { input: string; context?: Record<string, unknown> };

/** How an execution ended. */
export type Ending = {
  status: 'completed' | 'failed';
  completedAt: string;
  durationMs: number;
  tokensUsed: number;
  /** Whether a part of the tokens is estimated. */
  tokensEstimated?: true;
  selfTest: GateResult;
  qaReview: GateResult;
  /** Why it failed: a code or a fixed sentence. */
  error?: string;
  /** What happened, if the code does not say it. */
  errorReason?: string;
  /** The model that answered, if it is not the model that the execution started with. */
  model?: string;
  timings?: Timings;
  stepCount?: number;
  /** The fields of its task at the end; absent without a task, or if the task was deleted. */
  taskFields?: TaskFields;
};

/** Returns the tokens that the end of an execution stores: the tokens of its workers, and the tokens that were counted late. */
export function endingTokens(
  { late }: Pick<ExecutionHead, 'late'>,
  { tokens, estimated }: Spent,
): Pick<Ending, 'tokensUsed' | 'tokensEstimated'> {
  return {
    tokensUsed: tokens + (late?.tokens ?? 0),
    ...((estimated || late?.estimated) && { tokensEstimated: true }),
  };
}

/** The fields of a head from which its number of steps follows. */
type CountedHead = Pick<
  ExecutionHead,
  'status' | 'steps' | 'firstLeasedAt' | 'tokensUsed' | 'selfTest' | 'qaReview' | 'progress'
> &
  Partial<Pick<ExecutionHead, 'timings'>>;

/**
 * Returns the calls of models that have no stored step and that the head reports: the call of an agent without tools,
 * and the calls of the quality gates. A version without the times of calls stored only verdicts and the sum of tokens.
 */
export function unstoredCalls(head: CountedHead): TimedCall[] {
  const { status, steps, firstLeasedAt, tokensUsed = 0 } = head;
  const timings = timingsOf(head);
  const isKnown = (gate: 'selfTest' | 'qaReview') =>
    timings[gate] !== undefined || head[gate] === 'passed' || head[gate] === 'failed';
  const isModelAsked =
    timings.model !== undefined ||
    (status === 'running' ? firstLeasedAt !== undefined : status === 'completed' || tokensUsed > 0);
  return [
    ...(steps === undefined && isModelAsked ? (['model'] as const) : []),
    ...(['selfTest', 'qaReview'] as const).filter(isKnown),
  ];
}

/** Returns the times of the calls of models without a stored step, as far as they are known. */
export function timingsOf({ timings, progress }: CountedHead): Timings {
  return timings ?? progress?.timings ?? {};
}

/** Returns the number of steps of an execution, as far as they have started. */
export function stepCountOf(head: CountedHead): number {
  return (head.steps ?? 0) + unstoredCalls(head).length;
}

/** Returns the step of a running execution that a worker has started; `undefined` if none is known. */
function currentStepOf(head: ExecutionHead): Execution['currentStep'] {
  const { status, steps, step, model, firstLeasedAt, outputParts } = head;
  if (status !== 'running') return undefined;
  if (steps !== undefined) return step && { number: steps, ...step };
  if (firstLeasedAt === undefined || outputParts !== undefined) return undefined;
  return { number: 1, kind: 'model', name: model, startedAt: firstLeasedAt };
}

/** Returns the fields of a task that its execution stores. */
export function taskFieldsOf({ projectId, assignedAgent }: TaskFields): TaskFields {
  return {
    ...(projectId !== undefined && { projectId }),
    ...(assignedAgent !== undefined && { assignedAgent }),
  };
}

/** Returns the execution that a head stores. Its start is the time of its id. */
export function executionFrom(item: Item): ExecutionHead {
  const { pk, sk, kind, due, dueAt, ...rest } = item;
  const ulid = ulidOf(pk as string);
  return {
    claims: 0,
    ...rest,
    organization: organizationOf(pk as string),
    id: `ex_${ulid}`,
    startedAt: timestamp(timeOf(ulid)),
  } as ExecutionHead;
}

/** Returns the head of a new execution, in the sweeper's index from `dueAt` on. */
export function executionItem(execution: RunningExecution, dueAt: string): Item {
  const { organization, id, startedAt, claims, ...rest } = execution;
  const Key = keys.executionHead(organization, ulidOf(id));
  return { ...Key, kind: executionKind, ...rest, ...authorship(), ...dueEntry(executionPartition, dueAt) };
}

/** Returns the item of an input. The context is stored as JSON: a map would not keep the order of its keys. */
export function inputItem({ organization, id }: ExecutionHead, { input, context }: ExecutionInput): Item {
  return {
    ...keys.executionInput(organization, ulidOf(id)),
    input,
    ...(context && { context: JSON.stringify(context) }),
  };
}

/** Returns the item of the delegation that started an execution. It has the status of the execution. */
export function delegationItem({ organization, id, delegationId = '', delegatedBy, agentName }: ExecutionHead): Item {
  const Key = keys.delegation(organization, ulidOf(delegationId));
  return { ...Key, fromAgent: delegatedBy, toAgent: agentName, executionId: id, ...requestFields() };
}

/** Returns the delegation that an item stores, with the status of its execution. */
export function delegationFrom(
  { fromAgent, toAgent, sk }: Item,
  { status, claims, firstLeasedAt }: ExecutionHead,
): Delegation {
  return {
    delegationId: `dl_${sk}`,
    fromAgent: fromAgent as string,
    toAgent: toAgent as string,
    status: status === 'running' && claims === 0 && firstLeasedAt === undefined ? 'accepted' : status,
  };
}

/** Returns the input that an item stores. */
export function inputFrom({ input, context }: Item): ExecutionInput {
  return {
    input: input as string,
    ...(context !== undefined && { context: JSON.parse(context as string) as Record<string, unknown> }),
  };
}

/** Returns the items of an output, which is split between characters. The first also has the reasons of the gates. */
export function outputItems(
  { organization, id }: ExecutionHead,
  output: string,
  gateReasons: GateReasons = {},
): Item[] {
  return partsOf(output).map((text, part) => ({
    ...keys.executionOutput(organization, ulidOf(id), part),
    text,
    ...(part === 0 && gateReasons),
  }));
}

/** Returns the write that adds reasons of gates to a stored output; none without reasons. */
export function gateReasonsWrites({ organization, id }: ExecutionHead, gateReasons: GateReasons = {}): Write[] {
  const gates = Object.entries(gateReasons);
  if (gates.length === 0) return [];
  return [
    {
      Update: {
        Key: keys.executionOutput(organization, ulidOf(id), 0),
        UpdateExpression: `SET ${gates.map(([gate]) => `${gate} = :${gate}`).join(', ')}`,
        ExpressionAttributeValues: Object.fromEntries(gates.map(([gate, reason]) => [`:${gate}`, reason])),
      },
    },
  ];
}

/** Returns the keys of the items that hold the stored output of an execution. */
export function outputKeys({ organization, id, outputParts = 0 }: ExecutionHead): Key[] {
  return Array.from({ length: outputParts }, (_, part) => keys.executionOutput(organization, ulidOf(id), part));
}

/**
 * Returns the execution with its input and output, from the items of its partition without its steps; `undefined` if the head or the input
 * is missing.
 *
 * @throws `Conflict` when the head is newer than the output: a query is no snapshot, even in one partition
 */
export function wholeExecution(items: readonly Item[]): (Execution & { agentId: string }) | undefined {
  const named = (sk: string) => items.find((item) => item.sk === sk);
  const [head, input] = [named('M'), named('IN')];
  if (!head || !input) return undefined;
  const execution = executionFrom(head);
  const output = outputFrom(items, execution.outputParts ?? 0);
  const gateReasons = { ...gateReasonsFrom(named('OUT#0') ?? {}), ...execution.gateReasons };
  return {
    ...withoutOutput(execution, inputFrom(input)),
    ...(execution.status === 'completed' && { output }),
    ...(execution.status === 'completed' && Object.keys(gateReasons).length > 0 && { gateReasons }),
  };
}

/** What can start an execution, by the letter that rows of lists store. */
const starters = { r: 'request', a: 'auto_run', d: 'delegation' } as const;

/** The letter of what has started an execution. */
export type StartLetter = keyof typeof starters;

/** Returns the letter of what has started an execution. */
export function startLetterOf({ autoRun, delegationId }: ExecutionHead): StartLetter {
  if (autoRun) return 'a';
  return delegationId === undefined ? 'r' : 'd';
}

/** Returns what has started an execution, from its letter. */
export function startedByOf(letter: StartLetter): NonNullable<Execution['startedBy']> {
  return { kind: starters[letter] };
}

/** Returns an execution that is not completed, as `getExecution` returns it. */
export function withoutOutput(
  execution: ExecutionHead,
  { input, context }: ExecutionInput,
): Execution & { agentId: string } {
  const { selfTest, qaReview, step, ...rest } = execution;
  const currentStep = currentStepOf(execution);
  const errorReason = errorReasonOf(execution);
  const isWaiting = isRunning(execution) && (execution.progress?.waits ?? 0) > 0;
  return {
    ...rest,
    startedBy: startedByOf(startLetterOf(execution)),
    ...(errorReason !== undefined && { errorReason }),
    ...(isWaiting && { waitingForModel: true }),
    input,
    ...(context && { context }),
    qualityGates: { selfTest, qaReview },
    stepCount: stepCountOf(execution),
    ...(currentStep && { currentStep }),
  };
}

/**
 * Returns the output that items of an execution's partition hold; skips other items.
 *
 * @throws `Conflict` when there are fewer parts than the head says
 */
export function outputFrom(items: readonly Item[], outputParts: number): string {
  const parts = items.filter(({ sk }) => (sk as string).startsWith('OUT#')).sort((a, b) => partOf(a) - partOf(b));
  if (parts.length < outputParts) throw new Conflict();
  return parts.map(({ text }) => text).join('');
}

/** Returns the reasons of the gates that the first item of an output holds. */
function gateReasonsFrom({ selfTest, qaReview }: Item): GateReasons {
  return {
    ...(selfTest !== undefined && { selfTest: selfTest as string }),
    ...(qaReview !== undefined && { qaReview: qaReview as string }),
  };
}

function partOf({ sk }: Item): number {
  return Number((sk as string).slice('OUT#'.length));
}

/** Returns an execution as lists and events show it, without what has started it: only lists show that. */
export function listItemOf(execution: ExecutionHead): ExecutionListItem {
  const { id, agentName, taskId, status, startedAt, completedAt, durationMs, stepCount } = execution;
  const { tokensUsed, tokensEstimated, selfTest, qaReview, error } = execution;
  return {
    id,
    agentName,
    ...(taskId !== undefined && { taskId }),
    status,
    startedAt,
    ...(completedAt !== undefined && { completedAt }),
    ...(durationMs !== undefined && { durationMs }),
    ...(stepCount !== undefined && { stepCount }),
    ...(tokensUsed !== undefined && { tokensUsed }),
    ...(tokensEstimated && { tokensEstimated }),
    ...(completedAt !== undefined && { qualityGates: { selfTest, qaReview } }),
    ...(isErrorCode(error) && { error }),
  };
}

const facets: Record<ExecutionStatus, string> = { running: 'r', completed: 'c', failed: 'f' };

/** Returns the facet of a status in the lists of executions. */
export const executionFacet = (status: ExecutionStatus): string => facets[status];
