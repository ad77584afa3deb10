/**
 * The check of a deploy: a custom resource of CloudFormation calls functions with an event that no event source sends, and each
 * function runs its start (docs/decisions/24-a-deploy-checks-that-its-functions-start.md).
 */

/** The event that asks a function whether it starts. `sample` is a text that the signing key has encrypted. */
export type StartCheckEvent = { startCheck: { sample?: string | undefined } };

/** The answer of a function. A function that encrypts secrets returns a sample for the others. */
export type StartCheckAnswer = { started: true; sample?: string } | { started: false; error: string };

/** A function to check: its name, and the ARN of the function or version that will serve. */
export type CheckedFunction = { name: string; arn: string };

/** The properties of the custom resource. The first function encrypts the sample that the others decrypt. */
export type StartCheckProperties = { functions: readonly CheckedFunction[] };

/**
 * Returns a Lambda handler that also answers the check of a deploy. API Gateway, queues, the stream and schedules cannot send
 * such an event: all of theirs have other keys at the top.
 *
 * @param check runs what the function needs at its start, and throws if that fails; it may return a sample
 */
export function withStartCheck<Event, Rest extends unknown[], Result>(
  handler: (event: Event, ...rest: Rest) => Result,
  check: (sample: string | undefined) => Promise<string | undefined>,
): (event: Event, ...rest: Rest) => Result {
  return (event, ...rest) => {
    const { startCheck } = event as Partial<StartCheckEvent>;
    // The caller of a check expects this answer, and not the result of the handler.
    return startCheck ? (answerOf(check, startCheck.sample) as Result) : handler(event, ...rest);
  };
}

async function answerOf(
  check: (sample: string | undefined) => Promise<string | undefined>,
  given: string | undefined,
): Promise<StartCheckAnswer> {
  try {
    const sample = await check(given);
    return { started: true, ...(sample !== undefined && { sample }) };
  } catch (error) {
    return { started: false, error: causeOf(error) };
  }
}

/** Returns the name and the message of an error, or of its cause. They never contain secrets. */
export function causeOf(error: unknown): string {
  const { cause = error } = error as { cause?: unknown };
  return String(cause);
}
