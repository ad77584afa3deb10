import type { Log } from '../../lib/context/log.ts';

/** A log whose lines of the level `info` wait until `release` is called. */
export type HeldLog = Log & { release: () => void };

/**
 * Creates a log that keeps what the service does during its start, so that the address, or why the start has failed, is printed
 * first. Warnings and errors are written at once.
 */
export function createHeldLog(target: Log): HeldLog {
  let held: Parameters<Log['info']>[] | undefined = [];
  return {
    info: (message, fields) => {
      if (held) held.push([message, fields]);
      else target.info(message, fields);
    },
    warn: (message, fields) => target.warn(message, fields),
    error: (message, fields) => target.error(message, fields),
    release: () => {
      const lines = held ?? [];
      held = undefined;
      for (const line of lines) target.info(...line);
    },
  };
}
