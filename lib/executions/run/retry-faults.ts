/** The pauses before a failed write or tool call is repeated, in milliseconds. They keep the results of paid calls to models. */
export const faultPausesMs = [500, 1_000, 2_000, 4_000];

/** How faults are retried: which errors are none, and how to wait (milliseconds). */
type Retries = { isFinal: (error: unknown) => boolean; pause: (milliseconds: number) => Promise<void> };

/**
 * Repeats an action after faults, such as faults of the table, with a pause before each further try.
 *
 * @throws the error of the last try, or the first one that is final
 */
export async function retryFaults<Result>(act: () => Promise<Result>, { isFinal, pause }: Retries): Promise<Result> {
  for (const pauses = faultPausesMs.values(); ; ) {
    try {
      return await act();
    } catch (error) {
      const { value: wait } = pauses.next();
      if (wait === undefined || isFinal(error)) throw error;
      await pause(wait);
    }
  }
}
