import type { Context } from '../context/context.ts';
import { ApiError } from '../contract/errors.ts';
import { checkTable } from '../table/check-table.ts';

/** How long the result of a check counts, in milliseconds: anyone may ask for it, and a check reads the table. */
const countsForMs = 5_000;

/**
 * Returns the check of `GET /health`: the settings of all functions are valid, and the table can be read. It is the check of a
 * deploy (`lib/names/start-check.ts`), as far as one function can make it.
 *
 * @param getContext returns the context, which reads the settings
 * @param monotonic milliseconds since a fixed moment
 * @returns a function that throws `ApiError` `unavailable`, with the error as its cause, if the check fails
 */
export function createHealthCheck(getContext: () => Context, monotonic: () => number): () => Promise<void> {
  let checked: { at: number; result: Promise<void> } | undefined;
  const check = async (): Promise<void> => {
    try {
      await checkTable(getContext());
    } catch (cause) {
      const error = new ApiError(
        'unavailable',
        'The service cannot start or cannot read its table; its operator finds the cause in the log by the requestId.',
        [],
        { 'Retry-After': String(countsForMs / 1000) },
      );
      error.cause = cause;
      throw error;
    }
  };
  return () => {
    const now = monotonic();
    if (!checked || now >= checked.at + countsForMs) checked = { at: now, result: check() };
    return checked.result;
  };
}
