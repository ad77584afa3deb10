import { CrewboardError } from '../../../client/client.ts';
import { exactTime } from './exact-time.ts';

/**
 * Returns the text of an error for people. The script of a part is missing in an outage, and
 * that of an older page also after an upgrade of the service. The service does
 * not name the worker that has claimed a task in its message, but in a detail.
 */
export function messageOf(error: unknown): string {
  if (error instanceof CrewboardError) {
    if (error.code === 'no_response') return noResponseText(error.method);
    const { worker, expiresAt } = error.details[0] ?? {};
    if (worker === undefined || expiresAt === undefined) return error.message;
    return `“${worker}” has claimed the task until ${exactTime(expiresAt)}. Wait for its release, or take the task back.`;
  }
  if (error instanceof TypeError && /import/i.test(error.message))
    return 'A part of the console could not be loaded. Try again when the service can be reached. If it has a newer version, reload the page.';
  return error instanceof Error ? error.message : String(error);
}

/** What the user can do about a request without a response. A change may have been made. */
function noResponseText(method: string | undefined): string {
  return method === 'GET'
    ? 'The service cannot be reached. Try again.'
    : 'The service cannot be reached. It may have done this nevertheless: look before you try again.';
}
