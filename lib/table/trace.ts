import { AsyncLocalStorage } from 'node:async_hooks';

const requests = new AsyncLocalStorage<string>();

/**
 * Does something on behalf of a request, as far as it is known: what is written meanwhile carries the request's id, as
 * do the messages and log lines that come of it, in whatever function. So one id tells a whole story.
 */
export function onBehalfOf<Result>(requestId: string | undefined, act: () => Result): Result {
  return requestId === undefined ? act() : requests.run(requestId, act);
}

/** The request on whose behalf something is being done, as a field of what is written; none where it is not known. */
export function traced(): { requestId?: string } {
  const requestId = requests.getStore();
  return requestId === undefined ? {} : { requestId };
}
