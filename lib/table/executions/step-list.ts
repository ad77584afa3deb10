import type { Page } from '../../contract/endpoint.ts';
import { noVerdict } from '../../contract/executions/quality-gates.ts';
import type { ExecutionStep } from '../../contract/executions/steps.ts';
import { timestamp, ulidOf } from '../../contract/ids.ts';
import type { TableContext } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { getItems, readRange } from '../access/reads.ts';
import { retryOnConflict } from '../access/transact.ts';
import type { Item } from '../access/write.ts';
import { startInBytes } from '../text-parts.ts';
import {
  type ExecutionHead,
  type ExecutionInput,
  executionFrom,
  inputFrom,
  isFormer,
  outputFrom,
  stepCountOf,
  type TimedCall,
  timingsOf,
  unstoredCalls,
} from './execution-items.ts';
import { notedFrom, type Received } from './received.ts';
import { longestShownBytes, readSteps, type Step, stepFrom, stepsFrom } from './steps.ts';

/** The attributes of a stored step that a page shows. */
const shownAttributes = [
  ...['step', 'name', 'startedAt', 'durationMs', 'tokensUsed', 'input', 'output', 'truncated'],
  ...['error', 'isError'],
];

/** Returns a page of the steps of an execution by their numbers, and their exact number. */
export async function readStepPage(
  { table }: TableContext,
  head: ExecutionHead,
  { limit, offset }: { limit: number; offset: number },
): Promise<Page<ExecutionStep>> {
  const { organization, id, steps: stored = 0, outputParts = 0, step } = head;
  const ulid = ulidOf(id);
  const total = stepCountOf(head);
  const last = Math.min(offset + limit, total);
  const lastStored = Math.min(last, stored);
  const partKeys = [
    ...(offset === 0 ? [keys.executionInput(organization, ulid)] : []),
    ...(last > stored && outputParts > 0 ? [keys.executionOutput(organization, ulid, 0)] : []),
  ];
  const [items, parts] = await Promise.all([
    offset < lastStored
      ? readRange(table, {
          pk: keys.execution(organization, ulid),
          from: keys.executionStep(organization, ulid, offset + 1).sk,
          to: keys.executionStep(organization, ulid, lastStored).sk,
          only: shownAttributes,
          ascending: true,
        })
      : [],
    getItems(table, partKeys),
  ]);
  const steps = items.map(stepFrom);
  const isStarted = step !== undefined && !isFormer(head) && offset < stored && lastStored === stored;
  // The step may have ended since the head was read.
  const started = isStarted && steps.at(-1)?.number !== stored ? await startedOf({ table }, head) : undefined;
  const input = parts.find(({ sk }) => sk === 'IN')?.input as string | undefined;
  const output = parts.find(({ sk }) => sk !== 'IN');
  const calls = unstoredCalls(head).slice(Math.max(0, offset - stored), Math.max(0, last - stored));
  const firstCall = Math.max(offset, stored) + 1;
  return {
    items: [
      ...[...steps, ...(started ?? [])].map((one) => shownStep(head, one, input)),
      ...calls.map((call, at) => shownCall(head, call, firstCall + at, { input, output })),
    ],
    total,
  };
}

/** Returns the step of an execution that has started and not ended. The arguments of a call are in an earlier step. */
async function startedOf(context: TableContext, head: ExecutionHead): Promise<Step[]> {
  return (await readSteps(context, head)).slice(-1);
}

/** All that is stored of an execution, read at once. */
export type StoredConversation = {
  head: ExecutionHead;
  input: ExecutionInput;
  /** Absent if the execution has none. */
  output?: string;
  /** What its models received besides these texts, by its number. */
  received: ReadonlyMap<number, Received>;
  steps: Step[];
};

/** Returns all that is stored of an execution; `undefined` if it does not exist. */
export async function readConversation(
  { table }: TableContext,
  { organization, id }: Pick<ExecutionHead, 'organization' | 'id'>,
): Promise<StoredConversation | undefined> {
  const pk = keys.execution(organization, ulidOf(id));
  return retryOnConflict(table, async () => {
    const items = await readRange(table, { pk, ascending: true });
    const [headItem, inputItem] = ['M', 'IN'].map((name) => items.find(({ sk }) => sk === name));
    if (!headItem || !inputItem) return undefined;
    const head = executionFrom(headItem);
    const noted = items.filter(({ sk }) => (sk as string).startsWith('RC#')).map(notedFrom);
    return {
      head,
      input: inputFrom(inputItem),
      ...(head.outputParts && { output: outputFrom(items, head.outputParts) }),
      received: new Map(noted.map(({ number, received }) => [number, received])),
      steps: stepsFrom(head, items),
    };
  });
}

/** Returns a stored step as a page shows it. */
function shownStep({ status, error: failure }: ExecutionHead, step: Step, input: string | undefined): ExecutionStep {
  const { number, kind, name, startedAt, durationMs, output } = step;
  const interrupted = durationMs === undefined && status !== 'running' ? failure : undefined;
  const error = kind === 'model' ? step.error : step.isError ? output : undefined;
  const given = kind === 'tool' ? step.input : number === 1 ? input : undefined;
  return {
    ...{ number, kind, name },
    ...bounded(given, error === undefined ? output : undefined, step.truncated),
    ...((error ?? interrupted) !== undefined && {
      error: startInBytes((error ?? interrupted) as string, longestShownBytes),
    }),
    ...(kind === 'model' && step.tokensUsed !== undefined && { tokensUsed: step.tokensUsed }),
    startedAt,
    ...(durationMs !== undefined && { durationMs }),
  };
}

/** Returns a call of a model without a stored step as a page shows it. */
function shownCall(
  head: ExecutionHead,
  call: TimedCall,
  number: number,
  { input, output }: { input: string | undefined; output: Item | undefined },
): ExecutionStep {
  const { status, startedAt, firstLeasedAt, model, outputParts = 0, progress, gateReasons, error } = head;
  const timing = timingsOf(head)[call];
  const failure = status === 'failed' ? error : undefined;
  const isModel = call === 'model';
  const reason = isModel ? undefined : (gateReasons ?? progress?.reasons)?.[call as 'selfTest' | 'qaReview'];
  const text = reason ?? (output?.[isModel ? 'text' : call] as string | undefined);
  const hasNoAnswer = !isModel && text?.startsWith(noVerdict);
  const answer = hasNoAnswer ? undefined : text;
  const skipped = hasNoAnswer ? text?.slice(noVerdict.length) : undefined;
  const hasEnded =
    status !== 'running' ||
    (isModel ? outputParts > 0 : progress?.verdicts[call as 'selfTest' | 'qaReview'] !== undefined);
  const started = timing ? timestamp(Date.parse(startedAt) + timing.at) : isModel ? firstLeasedAt : undefined;
  return {
    number,
    kind: isModel ? 'model' : 'gate',
    name: isModel ? model : call,
    ...bounded(isModel ? input : undefined, answer, isModel && outputParts > 1),
    ...(isModel && failure !== undefined && { error: failure }),
    ...(!isModel &&
      hasEnded &&
      timing &&
      answer === undefined && { error: failure ?? skipped ?? 'The judge gave no answer.' }),
    ...(timing && { tokensUsed: timing.tokens }),
    ...(started !== undefined && { startedAt: started }),
    ...(timing && hasEnded && { durationMs: timing.ms }),
  };
}

/** Returns the starts of an input and an output, and whether one of them was longer. */
function bounded(
  input: string | undefined,
  output: string | undefined,
  isCut: boolean | undefined,
): Pick<ExecutionStep, 'input' | 'output' | 'truncated'> {
  const shown = {
    ...(input !== undefined && { input: startInBytes(input, longestShownBytes) }),
    ...(output !== undefined && { output: startInBytes(output, longestShownBytes) }),
  };
  return { ...shown, truncated: isCut === true || shown.input !== input || shown.output !== output };
}
