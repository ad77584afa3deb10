/** Something that the person who starts the service can put right: told in one sentence, without a stack trace. */
export class Problem extends Error {
  override name = 'Problem';
}

/** The code of a Node.js system error, such as `EADDRINUSE`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
