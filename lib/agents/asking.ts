import type { Answer, Model, Question } from '../model/converse.ts';

/** Waits these milliseconds, or until the signal aborts, whichever is first. */
export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<void>;

/** What asking came to in the end, with the tokens of every call and how often the model would take none. */
export type Answered = { tokens: number; throttles: number } & (
  | { kind: 'text'; text: string }
  | { kind: 'failed'; error: string }
  | { kind: 'aborted' }
);

/** Pauses double from the first to the longest; each is drawn anew below that (full jitter), so that no two stay in step. */
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;

/**
 * Asks a model until there is an answer. Throttling is waited out for as long as the question's signal lets it: it is
 * no fault of the work. A fault that may pass is tried again a few times.
 *
 * @param tries how often the model may be asked, calls that it throttles left out
 */
export async function ask(model: Model, question: Question, pause: Pause, tries: number): Promise<Answered> {
  const { signal } = question;
  let tokens = 0;
  let faults = 0;
  let throttles = 0;
  for (let pauses = 0; !signal.aborted; pauses++) {
    const answer: Answer = await model(question);
    tokens += answer.tokens;
    if (answer.kind === 'faulty') {
      faults++;
      if (faults === tries) return { kind: 'failed', error: answer.error, tokens, throttles };
    } else if (answer.kind === 'throttled') throttles++;
    else return { ...answer, tokens, throttles };
    await pause(Math.random() * Math.min(longestPauseMs, firstPauseMs * 2 ** pauses), signal);
  }
  return { kind: 'aborted', tokens, throttles };
}
