import * as v from 'valibot';

/**
 * A command of operators: its name, such as `token create`, its arguments as on the command line, and the working folder of
 * the operator.
 */
export type CommandRequest = { command: string; args: readonly string[]; folder: string };

/** What a command sends to the terminal of its operator. */
export type CommandMessage =
  | { print: string }
  | { printError: string }
  /** The progress of long work; `null` if the work has ended. */
  | { progress: string | null }
  /** The exit code of the command, after which nothing follows. */
  | { exit: number };

/** The terminal of an operator, on which a command prints. The functions throw if the operator has ended the command. */
export type Terminal = {
  /** Prints a line to standard output. */
  print: (text: string) => void;
  /** Prints a line to standard error. */
  printError: (text: string) => void;
  /** Shows the progress of long work, beginning with a text. */
  startProgress: (first: string) => ShownProgress;
  /** Sets the exit code. */
  exit: (code: number) => void;
};

/** The shown progress of long work. `end` removes it, and throws nothing. */
export type ShownProgress = { report: (text: string) => void; end: () => void };

const CommandRequest = v.object({ command: v.string(), args: v.array(v.string()), folder: v.string() });

/** Returns the request in a line; `undefined` if the line has none. */
export function readRequest(line: string): CommandRequest | undefined {
  const { success, output } = v.safeParse(v.pipe(v.string(), v.parseJson(), CommandRequest), line);
  return success ? output : undefined;
}

/** Returns a request or a message as a line. JSON escapes line breaks. */
export function messageLine(message: CommandRequest | CommandMessage): string {
  return `${JSON.stringify(message)}\n`;
}
