import { CrewboardError } from '../../client/client.ts';

/** Returns why the console cannot read from the service, as a sentence. */
export function outageReason(error: Error | null, isOnline: boolean): string {
  if (!isOnline) return 'This device is offline.';
  if (!(error instanceof CrewboardError) || error.status === 0)
    return isTimeout(error) ? 'The service does not respond in time.' : 'The service cannot be reached.';
  // A proxy responds in place of the service, with a page that says nothing here.
  return error.code === 'not_an_answer'
    ? `The service responds with status ${error.status}.`
    : `The service responds with status ${error.status}: ${error.message}`;
}

function isTimeout(error: Error | null): boolean {
  return error?.cause instanceof DOMException && error.cause.name === 'TimeoutError';
}
