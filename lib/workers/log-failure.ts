import { log } from '../context/log.ts';
import { ModelServerError } from '../model/failures.ts';
import { requestFields } from '../table/access/current-request.ts';

/**
 * Logs the error of a model or of the call. Callers get a fixed sentence instead, which names nothing internal. The message
 * of a `ModelServerError` says everything, so its stack is not logged.
 */
export function logFailure(error: unknown): void {
  const logged = error instanceof ModelServerError ? error.message : (error as Error);
  log().warn('model failed', { ...requestFields(), error: logged });
}
