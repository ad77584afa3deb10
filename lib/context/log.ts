import { Logger } from '@aws-lambda-powertools/logger';

/** The log of a process. The fields of a line are never secrets or texts of users. */
export type Log = Record<'info' | 'warn' | 'error', (message: string, fields: Record<string, unknown>) => void>;

let current: Log | undefined;

/**
 * Returns the log of this process. Unless `setLog` has set another, it writes JSON, and the first call creates it. It does
 * not need the context of the process.
 */
export function log(): Log {
  current ??= new Logger({ serviceName: 'crewboard' });
  return current;
}

/** Sets the log of this process. Call it before the first line and before the context of the process is created. */
export function setLog(other: Log): void {
  current = other;
}
