import { AsyncLocalStorage } from 'node:async_hooks';

/** The ids of the current request, if they are known. */
export type RequestIds = {
  requestId?: string | undefined;
  /** The id of the access token that the request was sent with. */
  tokenId?: string | undefined;
};

/** The current request, and whether it may have changed something. */
type RequestContext = RequestIds & { mayHaveChanged: boolean };

const contexts = new AsyncLocalStorage<RequestContext>();

/**
 * Runs a function for a request. Items, messages and log lines that it writes have the id of the request, and functions
 * that process these items and messages run for the same request. So one id finds all effects of a request.
 */
export function runWithRequest<Result>(ids: RequestIds, act: () => Result): Result {
  return contexts.run({ ...ids, mayHaveChanged: false }, act);
}

/** Runs a function without the current request: its writes do not count as changes by the request. */
export function runWithoutRequest<Result>(act: () => Result): Result {
  return contexts.exit(act);
}

/** Notes that the current request may have changed something. */
export function noteChange(): void {
  const context = contexts.getStore();
  if (context) context.mayHaveChanged = true;
}

/** Returns whether the current request may have changed something; `true` outside a request. */
export function mayHaveChanged(): boolean {
  return contexts.getStore()?.mayHaveChanged ?? true;
}

/** Returns the id of the current request as a field of an item or a log line; no field if the id is not known. */
export function requestFields(): { requestId?: string } {
  const { requestId } = contexts.getStore() ?? {};
  return requestId === undefined ? {} : { requestId };
}

/** Returns the id of the access token of the current request; `undefined` if it is not known. */
export function requestTokenId(): string | undefined {
  return contexts.getStore()?.tokenId;
}
