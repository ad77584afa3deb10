/** An error that the user of a program can correct. Programs print its message only, without a stack trace. */
export class Problem extends Error {
  override name = 'Problem';
}

/** Returns the code of a Node.js system error, such as `EADDRINUSE`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
