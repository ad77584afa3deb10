import type { styleText } from 'node:util';
import type { Log } from '../../lib/context/log.ts';
import { ApiError } from '../../lib/contract/errors.ts';
import type { ExecutionFields } from '../../lib/executions/run/run-execution.ts';
import type { AttemptFields } from '../../lib/webhooks/attempts/make-attempt.ts';
import { codeOf, Problem } from '../problem.ts';
import { durationText, elided, timeText } from '../texts.ts';

/** A line of the service's log: its level, its message, and its fields. */
export type LogEntry = { level: keyof Log; message: string; fields: Record<string, unknown> };

/** The time and the terminal that lines are written for. */
export type LineOptions = {
  /** Unix time, in ms. */
  now: number;
  /** The width that lines should fit in; `undefined`: any. */
  columns?: number | undefined;
  style: Style;
};

/** Returns a text with a colour, or unchanged. */
type Style = (format: Colour, text: string) => string;

type Colour = Extract<Parameters<typeof styleText>[0], 'dim' | 'green' | 'yellow' | 'red'>;

/** The parts of a line. */
type Parts = {
  /** The method of a request, or the sign of a result. */
  label: string;
  colour?: Colour;
  /** A name before the subject. */
  owner?: string;
  /** The only part that is shortened if the line is too long. */
  subject: string;
  result: string;
};

/** The fields of the lines of requests (`lib/http/middleware/request-log.ts`). */
type RequestFields = { method: string; path: string; status: number; durationMs: number; code?: string };

/** The fields of the lines of schedules (`lib/workers/scheduled.ts`). */
type ScheduledFields = { job: string; woken?: number; unfinished?: boolean };

/** The longest label is DELETE. Labels end in the same column, as in the output of many tools. */
const labelWidth = 6;

/** The least width of a shortened subject. If the line is still too long, it wraps, and the subject stays whole. */
const leastSubjectWidth = 9;

/**
 * Returns the line for people of an entry of the log, with the stack of an unexpected error below it; `undefined` if the
 * entry is of no interest to people, such as a schedule that did nothing.
 */
export function logLine(entry: LogEntry, options: LineOptions): string | undefined {
  const parts = partsOf(entry, options.now);
  if (!parts) return undefined;
  const stack = stackOf(entry);
  return stack === undefined ? joined(parts, options) : `${joined(parts, options)}\n${options.style('dim', stack)}`;
}

function partsOf({ level, message, fields }: LogEntry, now: number): Parts | undefined {
  if (message === 'request') return requestParts(fields as RequestFields);
  if (message === 'message') return messageParts(fields, now);
  if (message === 'scheduled') return scheduledParts(fields as ScheduledFields);
  const { error } = fields;
  const colour = ({ info: 'dim', warn: 'yellow', error: 'red' } as const)[level];
  return { label: level, colour, subject: message, result: error === undefined ? '' : `: ${nameAndMessage(error)}` };
}

function requestParts({ method, path, status, durationMs, code }: RequestFields): Parts {
  const colour = status >= 500 ? 'red' : status >= 400 ? 'yellow' : 'green';
  const reason = code === undefined ? '' : ` ${code}`;
  return { label: method, colour, subject: path, result: ` ${status} ${durationText(durationMs)}${reason}` };
}

/** Returns the parts of an attempt or an execution; `undefined` for messages that made neither. */
function messageParts(fields: Record<string, unknown>, now: number): Parts | undefined {
  if (fields.event !== undefined) return attemptParts(fields as AttemptFields & { item?: string }, now);
  if (fields.agentName !== undefined) return executionParts(fields as ExecutionFields & { executionId: string });
  return undefined;
}

/** @param attempt `item`, the id of the changed task or execution, is shown if it is there */
function attemptParts(attempt: AttemptFields & { item?: string }, now: number): Parts {
  const { event, item, receiver, httpStatus, durationMs, error, nextAttemptAt } = attempt;
  const subject = `${event}${item === undefined ? '' : ` ${item}`} → ${receiver}`;
  if (error === undefined) return { ...succeeded, subject, result: ` ${httpStatus}, ${durationText(durationMs)}` };
  const reason = httpStatus > 0 ? String(httpStatus) : shortReason(error);
  const retry = nextAttemptAt === undefined ? 'no retry' : `retry in ${secondsText(Date.parse(nextAttemptAt) - now)}`;
  return { ...failed, subject, result: ` ${reason}, ${retry}` };
}

function executionParts(execution: ExecutionFields & { executionId: string }): Parts {
  const { agentName, executionId, status, durationMs = 0, error = '', selfTest, qaReview } = execution;
  const named = { owner: `${agentName} `, subject: executionId };
  if (status === 'throttled') return { ...waiting, ...named, result: ' waits: the model is throttled' };
  if (status === 'failed') return { ...failed, ...named, result: ` failed: ${withoutStop(error)}` };
  const passed = selfTest === 'passed' && qaReview === 'passed';
  const gates = passed ? 'gates passed' : `self-test ${selfTest}, QA ${qaReview}`;
  const ended = passed ? succeeded : { ...succeeded, colour: 'yellow' as const };
  return { ...ended, ...named, result: ` completed ${durationText(durationMs)}, ${gates}` };
}

/** Returns the parts of a schedule; `undefined` if it did nothing. */
function scheduledParts({ job, woken = 0, unfinished = false }: ScheduledFields): Parts | undefined {
  if (woken === 0 && !unfinished) return undefined;
  const messages = woken === 1 ? '1 message sent' : `${woken} messages sent`;
  const sent = job === 'recoveries' ? messages : `${messages} again`;
  const result = unfinished ? `: ${sent}, and more to send` : `: ${sent}`;
  return { label: 'sweep', colour: 'dim', subject: job, result };
}

const succeeded = { label: '✓', colour: 'green' } as const;
const failed = { label: '✗', colour: 'red' } as const;
const waiting = { label: '…', colour: 'yellow' } as const;

/** Joins the parts of a line in the columns of all lines. */
function joined({ label, colour, owner = '', subject, result }: Parts, options: LineOptions): string {
  const { now, columns = Number.POSITIVE_INFINITY, style } = options;
  const time = timeText(now);
  const aligned = printable(label).padStart(labelWidth);
  const [start, middle, end] = [owner, subject, result].map(printable) as [string, string, string];
  const room = columns - `${time} ${aligned} ${start}${end}`.length;
  const shown = room < leastSubjectWidth ? middle : elided(middle, room);
  return `${style('dim', time)} ${colour ? style(colour, aligned) : aligned} ${start}${shown}${end}`;
}

/** Returns the time until a retry, in whole seconds: the line is written a moment after the wait has begun. */
function secondsText(milliseconds: number): string {
  return durationText(Math.max(1, Math.round(milliseconds / 1000)) * 1000);
}

/** Returns the reason of a failed attempt without articles and without the receiver, which the line names already. */
function shortReason(error: string): string {
  const text = withoutStop(error)
    .replace(/^The receiver /, '')
    .replace(/\bthe /gi, '');
  return text.charAt(0).toLowerCase() + text.slice(1);
}

const withoutStop = (text: string): string => text.replace(/\.$/, '');

function nameAndMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { name, message } = error;
  const code = codeOf(error);
  return message === '' ? (code ?? name) : name === 'Error' ? message : `${name}: ${message}`;
}

/** Returns the stack of an unexpected error, without its message. A warning is expected, and so is an error that is a response of the API. */
function stackOf({ level, fields: { error } }: LogEntry): string | undefined {
  if (level !== 'error' || !(error instanceof Error) || error instanceof ApiError || error instanceof Problem)
    return undefined;
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line)) ?? [];
  return frames.length === 0 ? undefined : frames.map(printable).join('\n');
}

/** Returns a text as one line, without characters that could control the terminal: paths are decoded. */
function printable(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ').replace(/\p{C}/gu, '\uFFFD');
}
