import { log } from '../log.ts';
import { requestFields } from '../request-context.ts';

/** Writes what a model, or the way to it, has said into the log: callers are told a fixed sentence that names nothing. */
export function logFailure(error: unknown): void {
  log().warn('model failed', { ...requestFields(), error: error as Error });
}
