import ora from 'ora';

/** Tells how far work has come, in a few words. */
export type Tell = (text: string) => void;

/** Where progress is shown, and by which clock (milliseconds). */
export type Screen = { stream: NodeJS.WriteStream; clock: () => number };

/** How often a line is written where no line can be rewritten: to a file, to the log of a pipeline. */
const lineEveryMs = 10_000;

/**
 * Does long work and shows on standard error how far it has come: on a terminal in one line that is rewritten, and gone
 * at the end; elsewhere in a plain line every ten seconds, so that work that is quickly done writes nothing.
 */
export async function withProgress<Result>(
  first: string,
  work: (tell: Tell) => Promise<Result>,
  { stream, clock }: Screen = { stream: process.stderr, clock: Date.now },
): Promise<Result> {
  // Some terminals say that they have no columns, and ora would clear a text of infinitely many lines.
  const hasWidth = stream.columns > 0;
  const line = ora({ text: first, stream, discardStdin: false, ...(!hasWidth && { isEnabled: false }) });
  if (line.isEnabled) line.start();
  let toldAt = clock();
  try {
    return await work((text) => {
      line.text = text;
      if (line.isEnabled || clock() - toldAt < lineEveryMs) return;
      toldAt = clock();
      stream.write(`${text}\n`);
    });
  } finally {
    line.stop();
  }
}
