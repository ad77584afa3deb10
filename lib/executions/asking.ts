import type { Answer, Model, Question } from '../model/converse.ts';

/** Waits these milliseconds, or until the signal aborts, whichever is first. */
export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<void>;

/** The result of asking a model, with the tokens of every call and the number of throttled calls. */
export type Answered = { tokens: number; throttles: number } & (
  | { kind: 'text'; text: string }
  | { kind: 'failed'; error: string }
  | { kind: 'aborted' }
  /** The model still throttles after `patienceMs`; `faults` is what to go on with when it is asked again. */
  | { kind: 'throttled'; faults: number }
);

/** Pauses double from the first to the longest; each is drawn anew below that (full jitter), so that no two stay in step. */
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;

/**
 * Asks a model until there is an answer. A throttled call is repeated until the question's signal aborts, or until the
 * caller's patience ends: it is no fault of the work. Another fault that may pass is tried again a few times.
 *
 * @param tries how often the model may be asked, without throttled calls
 * @param options.faults how many of the tries were used before
 * @param options.patienceMs the longest time, in milliseconds, that pauses after throttled calls may take together
 */
export async function ask(
  model: Model,
  question: Question,
  pause: Pause,
  tries: number,
  { faults: before = 0, patienceMs = Number.POSITIVE_INFINITY } = {},
): Promise<Answered> {
  const { signal } = question;
  let tokens = 0;
  let faults = before;
  let throttles = 0;
  let waitedMs = 0;
  for (let pauses = 0; !signal.aborted; pauses++) {
    const answer: Answer = await model(question);
    tokens += answer.tokens;
    if (answer.kind === 'faulty') {
      faults++;
      if (faults === tries) return { kind: 'failed', error: answer.error, tokens, throttles };
    } else if (answer.kind !== 'throttled') return { ...answer, tokens, throttles };
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
