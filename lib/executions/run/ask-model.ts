import type { Context } from '../../context/context.ts';
import type { CachedTokens, Model, ModelAnswer, Question, ToolCall } from '../../model/converse.ts';
import { estimatedInput } from '../../model/input-estimate.ts';
import { addSpent, type Spending } from './spending.ts';

/**
 * The result of asking a model, with the tokens of every call and the number of throttled calls. `cached` has the
 * cached tokens of the last call. `estimated`: a call was aborted, and its estimated input is in `tokens`.
 */
export type Answered = { tokens: number; throttles: number; cached?: CachedTokens; estimated?: true } & (
  | { kind: 'text'; text: string }
  /** The model requests calls of tools; see `ModelAnswer`. */
  | { kind: 'tools'; content: string; text: string; calls: ToolCall[] }
  /** The message of a model with tools could not be used; see `ModelAnswer`. */
  | { kind: 'malformed'; error: string }
  | { kind: 'failed'; error: string; isCutOff?: true }
  | { kind: 'aborted' }
  /** The model still throttles after `patienceMs`; `faults` is for the next call of `askModel`. */
  | { kind: 'throttled'; faults: number }
);

/**
 * Pauses double from the first to the longest, in milliseconds. Each is drawn at random below that (full jitter), so that
 * two workers do not retry at the same time.
 */
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;

/**
 * Asks a model until it answers. A throttled call is repeated until the signal of the question aborts or `patienceMs` is
 * over. A call that failed temporarily is repeated a few times.
 *
 * @param tries the maximum number of calls, without throttled ones
 * @param options.faults how many of the tries were used up before
 * @param options.patienceMs the longest sum of the pauses after throttled calls, in milliseconds
 * @param options.spending gets the tokens of each call as soon as it returns
 * @param options.onFault stores the tokens of a call that failed temporarily, before the next call
 */
export async function askModel(
  { pause }: Pick<Context, 'pause'>,
  model: Model,
  question: Question,
  tries: number,
  {
    faults: before = 0,
    patienceMs = Number.POSITIVE_INFINITY,
    spending,
    onFault,
  }: { faults?: number; patienceMs?: number; spending?: Spending; onFault?: () => Promise<void> } = {},
): Promise<Answered> {
  const { signal } = question;
  let tokens = 0;
  let faults = before;
  let throttles = 0;
  let waitedMs = 0;
  for (let pauses = 0; !signal.aborted; pauses++) {
    const answer: ModelAnswer = await model(question);
    const isAborted = answer.kind === 'aborted';
    const spent = isAborted ? estimatedInput(question) : answer.tokens;
    if (spending) addSpent(spending, spent, isAborted);
    tokens += spent;
    if (answer.kind === 'faulty') {
      faults++;
      if (faults === tries) return { kind: 'failed', error: answer.error, tokens, throttles };
      if (spent > 0) await onFault?.();
    } else if (answer.kind !== 'throttled')
      return { ...answer, tokens, throttles, ...(isAborted && { estimated: true }) };
    const pauseMs = Math.random() * Math.min(longestPauseMs, firstPauseMs * 2 ** pauses);
    if (answer.kind === 'throttled') {
      throttles++;
      waitedMs += pauseMs;
      if (waitedMs > patienceMs) return { kind: 'throttled', faults, tokens, throttles };
    }
    await pause(pauseMs, signal);
  }
  return { kind: 'aborted', tokens, throttles };
}
