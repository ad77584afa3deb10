import { styleText } from 'node:util';
import type { Log } from '../../lib/context/log.ts';
import { logLine } from './log-lines.ts';

/**
 * Creates a log that writes one short line for people where the service logs a request, an attempt or an execution. It has
 * colours on a terminal, unless `NO_COLOR` is set.
 */
export function createTerminalLog(stream: NodeJS.WriteStream): Log {
  const writer = (level: keyof Log) => (message: string, fields: Record<string, unknown>) => {
    const line = logLine(
      { level, message, fields },
      {
        now: Date.now(),
        // A terminal of unknown width has 0 columns.
        columns: stream.columns || undefined,
        style: (format, text) => styleText(format, text, { stream }),
      },
    );
    if (line !== undefined) stream.write(`${line}\n`);
  };
  return { info: writer('info'), warn: writer('warn'), error: writer('error') };
}
