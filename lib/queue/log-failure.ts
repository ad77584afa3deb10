import { log } from '../log.ts';
import { requestFields } from '../request-context.ts';

/** Logs the error of a model or of the call. Callers get a fixed sentence instead, which names nothing internal. */
export function logFailure(error: unknown): void {
  log().warn('model failed', { ...requestFields(), error: error as Error });
}
