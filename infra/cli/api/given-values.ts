import { text } from 'node:stream/consumers';
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';

/** Returns a text of the command line, or the text of standard input for `-`, without the line break at its end. */
export async function givenText<Given extends string | undefined>(given: Given): Promise<Given | string> {
  return given === '-' ? (await text(process.stdin)).trimEnd() : given;
}

/** Returns the option `--context` of commands that start an execution. */
export function contextOption() {
  return new Option('--context <json>', 'key-values for the agent, as a JSON object').argParser(readContext);
}

function readContext(given: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(given);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // The message below covers both.
  }
  throw new InvalidArgumentError(`It must be a JSON object, such as '{"audience":"developers"}'.`);
}

/** Returns a parser that also takes an empty text, which clears a field. */
export function orEmpty<Value>(read: (given: string) => Value): (given: string) => Value | '' {
  return (given) => (given === '' ? '' : read(given));
}

/** Returns the value for a field of a change: `null`, which clears the field, for an empty text. */
export function cleared<Value>(given: Value | ''): Value | null {
  return given === '' ? null : given;
}
