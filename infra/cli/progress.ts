import ora from 'ora';
import type { ShownProgress, Terminal } from '../local/commands/messages.ts';

/** The stream on which progress is shown, and a clock in milliseconds. */
export type Screen = { stream: NodeJS.WriteStream; clock: () => number };

/** The time between two lines on a stream whose lines cannot be rewritten, such as a file or a log. */
const lineEveryMs = 10_000;

/**
 * Shows the progress of long work on standard error. On a terminal it rewrites one line, and removes it at the end.
 * Elsewhere it writes a line every ten seconds, so that short work writes nothing.
 */
export function startProgress(
  first: string,
  { stream, clock }: Screen = { stream: process.stderr, clock: Date.now },
): ShownProgress {
  // Some terminals report 0 columns. There ora would clear infinitely many lines.
  const hasWidth = stream.columns > 0;
  const line = ora({ text: first, stream, discardStdin: false, ...(!hasWidth && { isEnabled: false }) });
  if (line.isEnabled) line.start();
  let reportedAt = clock();
  return {
    report: (text) => {
      line.text = text;
      if (line.isEnabled || clock() - reportedAt < lineEveryMs) return;
      reportedAt = clock();
      stream.write(`${text}\n`);
    },
    end: () => void line.stop(),
  };
}

/** Reports the progress of long work in a few words. */
export type Report = ShownProgress['report'];

/** Does long work, and shows its progress on a terminal meanwhile. */
export async function withProgress<Result>(
  { startProgress: start }: Pick<Terminal, 'startProgress'>,
  first: string,
  work: (report: Report) => Promise<Result>,
): Promise<Result> {
  const { report, end } = start(first);
  try {
    return await work(report);
  } finally {
    end();
  }
}
