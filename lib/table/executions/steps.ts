import { ulidOf } from '../../contract/ids.ts';
import type { TableContext } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { readRange } from '../access/reads.ts';
import { transact } from '../access/transact.ts';
import type { Item, Write } from '../access/write.ts';
import { startInBytes } from '../text-parts.ts';
import { type ExecutionHead, isFormer, type Progress, type RunningExecution } from './execution-items.ts';
import { leaseHolderWrite, notedSet, progressSet, receivedWrites, resultWrite } from './lease-writes.ts';

/** The step has ended already: an earlier try of the same write was made, although its response was lost. */
export class StepEnded extends Error {
  override name = 'StepEnded';
}

/** How the sort keys of steps begin. */
const stepPrefix = 'ST#';

/** The longest name of a tool. A model can request any name. */
const longestName = 64;

/** The longest text of a step that `GET …/steps` shows, in bytes. */
export const longestShownBytes = 4 * 1024;

/** The fields of every step. A step has ended if it has a duration. */
type StepFields = { number: number; name: string; startedAt: string; durationMs?: number };

/** A call of a tool that a model requests. Without `input` the arguments were no JSON object. */
type StoredCall = { id: string; name: string; input: Record<string, unknown> | undefined };

/** A call of the agent's model. */
export type ModelStep = StepFields & {
  kind: 'model';
  tokensUsed?: number;
  /** The number of what the model received (`received.ts`), without the steps before. */
  received?: number;
  /** The start of the text of the answer. */
  output?: string;
  /** Whether `output` is only the start of the text. */
  truncated?: true;
  /** The message of the model, if it requests calls: JSON of its content blocks. */
  content?: string;
  calls?: StoredCall[];
  /** Why the call failed. */
  error?: string;
  /** The message could not be used. The model gets `error` in a note. */
  isMalformed?: true;
};

/** A call of a tool. `output` is the result as the model gets it. */
export type ToolStep = StepFields & {
  kind: 'tool';
  callId: string;
  /** The start of the arguments as JSON. */
  input: string;
  /** Whether `input` is only the start of the arguments. */
  truncated?: true;
  output?: string;
  isError?: boolean;
  /** The tool is unknown, or the arguments are invalid. */
  isInvalid?: true;
};

export type Step = ModelStep | ToolStep;

/** Returns the step of a call of a tool, when it starts. */
export function toolStepOf(number: number, { id, name, input }: StoredCall, startedAt: string): ToolStep {
  const given = input === undefined ? '' : JSON.stringify(input);
  const shown = startInBytes(given, longestShownBytes);
  return {
    ...{ number, kind: 'tool', name: name.slice(0, longestName).toWellFormed(), startedAt },
    ...{ callId: id.toWellFormed(), input: shown },
    ...(shown !== given && { truncated: true }),
  };
}

/** The fields of a head from which its steps are read. */
type SteppedHead = Pick<ExecutionHead, 'organization' | 'id' | 'step' | 'steps'>;

/**
 * Returns the stored steps of an execution, and the step that has started and not ended: the head has it, and the message
 * of the model has the call.
 */
function withStarted({ step, steps = 0 }: SteppedHead, stored: Step[]): Step[] {
  if (!step || stored.length >= steps) return stored;
  const { kind, name, startedAt } = step;
  if (kind === 'model') return [...stored, { number: steps, kind, name, startedAt }];
  const asked = stored.findLastIndex((one) => one.kind === 'model');
  const call = (stored[asked] as ModelStep | undefined)?.calls?.[stored.length - 1 - asked];
  return call ? [...stored, toolStepOf(steps, call, startedAt)] : stored;
}

/** A change of the steps of an execution: a step ends, or the next one starts, or both. */
export type StepChange = { ended?: Step | undefined; started?: Step | undefined; progress: Progress };

/** Returns the item of a step. Calls are stored as JSON: a map would not keep the order of their arguments. */
function stepItem({ organization, id }: ExecutionHead, step: Step): Item {
  const { number, kind, ...rest } = step;
  return {
    ...keys.executionStep(organization, ulidOf(id), number),
    // `kind` is the attribute that selects the items of the stream.
    step: kind,
    ...rest,
    ...(step.kind === 'model' && step.calls && { calls: JSON.stringify(step.calls) }),
  };
}

/** Returns the step that an item stores. */
export function stepFrom({ pk, sk, step: kind, calls, ...rest }: Item): Step {
  return {
    number: Number((sk as string).slice(stepPrefix.length)),
    kind,
    ...rest,
    ...(calls !== undefined && { calls: JSON.parse(calls as string) }),
  } as Step;
}

/**
 * Returns the writes of a change of the steps, for the lease holder only; they fail with `LeaseLost` or `StepEnded`. The
 * head has the step that starts, and a step that ends gets an item. The end forgets the workers that were lost before it.
 *
 * The end of a tool call also fails, with `AgentChanged`, if the agent may have lost the right to it. The end of a model
 * call does not: it stores a paid answer and changes nothing else.
 *
 * @param outputParts the number of items of the output, if the transaction stores it
 */
export function stepWrites(
  execution: RunningExecution,
  { ended, started, progress }: StepChange,
  outputParts?: number,
): Write[] {
  const items = isFormer(execution) ? [ended, started] : [ended];
  const current = started && { kind: started.kind, name: started.name, startedAt: started.startedAt };
  const stored = progressSet(execution, progress);
  const noted = notedSet(execution);
  const set = [
    'steps = :steps',
    stored.set,
    ...noted.sets,
    ...(current ? ['step = :step'] : []),
    ...(ended ? ['claims = :one'] : []),
    ...(outputParts ? ['outputParts = :parts'] : []),
  ];
  const write = ended?.kind === 'tool' ? resultWrite : leaseHolderWrite;
  return [
    write(
      execution,
      { set: set.join(', '), ...(!current && { remove: 'step' }) },
      {
        ':steps': (started ?? ended)?.number,
        ...stored.values,
        ...noted.values,
        ...(current && { ':step': current }),
        ...(ended && { ':one': 1 }),
        ...(outputParts && { ':parts': outputParts }),
      },
      {},
    ),
    ...receivedWrites(execution),
    ...items.filter((step) => step !== undefined).map((step) => putStep(execution, step)),
  ];
}

function putStep(execution: ExecutionHead, step: Step): Write {
  return {
    Put: { Item: stepItem(execution, step), ConditionExpression: 'attribute_not_exists(durationMs)' },
    onConditionFailed: () => new StepEnded(),
  };
}

/**
 * Writes a change of the steps.
 *
 * @throws `LeaseLost`, `StepEnded`, `AgentChanged`
 */
export async function writeSteps(
  { table }: TableContext,
  execution: RunningExecution,
  change: StepChange,
  outputs: readonly Item[] = [],
): Promise<void> {
  await transact(table, [
    ...stepWrites(execution, change, outputs.length),
    ...outputs.map((Item): Write => ({ Put: { Item } })),
  ]);
}

/** Returns the steps of an execution in their order: the stored steps, and the step that has started according to its head. */
export async function readSteps({ table }: TableContext, execution: SteppedHead): Promise<Step[]> {
  const { organization, id } = execution;
  const pk = keys.execution(organization, ulidOf(id));
  return stepsFrom(execution, await readRange(table, { pk, from: stepPrefix, to: `${stepPrefix}~`, ascending: true }));
}

/** Returns the steps of an execution from items of its partition in ascending order; skips other items. */
export function stepsFrom(execution: SteppedHead, items: readonly Item[]): Step[] {
  const steps = items.filter(({ sk }) => (sk as string).startsWith(stepPrefix));
  return withStarted(execution, steps.map(stepFrom));
}
