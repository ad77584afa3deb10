import type { Execution, ExecutionListItem } from '../lib/client/operations.ts';

/** Returns the local time of the day, such as `07:12:04`. */
export function timeText(now: number): string {
  return new Date(now).toTimeString().slice(0, 8);
}

/** Returns a duration in its largest unit, with at most one decimal: `8 ms`, `1.2 s`, `5 min`, `2 h`. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 59.95) return `${oneDecimal(seconds)} s`;
  const minutes = seconds / 60;
  return minutes < 59.95 ? `${oneDecimal(minutes)} min` : `${oneDecimal(minutes / 60)} h`;
}

/** Returns how an execution is or has ended, with the gates that failed: `completed, QA failed`; `cancelled` is no failure. */
export function executionStateText({
  status,
  error,
  qualityGates,
}: Pick<ExecutionListItem, 'status' | 'error' | 'qualityGates'>): string {
  if (status === 'failed') return error === 'cancelled' ? error : status;
  const [selfTest, qaReview] = [qualityGates?.selfTest === 'failed', qualityGates?.qaReview === 'failed'];
  if (status === 'running' || !(selfTest || qaReview)) return status;
  return `${status}, ${selfTest && qaReview ? 'both gates' : selfTest ? 'self-test' : 'QA'} failed`;
}

/** Returns the tokens of an execution, such as `1,234`, or `about 1,234` if they contain estimates; nothing before its end. */
export function tokensText({ tokensUsed, tokensEstimated }: Pick<Execution, 'tokensUsed' | 'tokensEstimated'>) {
  const tokens = tokensUsed?.toLocaleString('en');
  return tokens !== undefined && tokensEstimated ? `about ${tokens}` : tokens;
}

/** Returns a text that fits a width, with `…` for its middle if it is too long. */
export function elided(text: string, width: number): string {
  if (text.length <= width) return text;
  const kept = width - 1;
  const start = Math.ceil(kept / 2);
  return `${text.slice(0, start)}…${text.slice(text.length - (kept - start))}`;
}

const oneDecimal = (value: number): string => String(Math.round(value * 10) / 10);
