import { AsyncLocalStorage } from 'node:async_hooks';

/** The ids of the request that the running code works for, where they are known. */
export type RequestIds = {
  requestId?: string | undefined;
  /** The id of the access token that the request was sent with. */
  tokenId?: string | undefined;
};

/** A request, and whether the work for it may have changed anything so far. */
type RequestContext = RequestIds & { mayHaveChanged: boolean };

const contexts = new AsyncLocalStorage<RequestContext>();

/**
 * Runs a function for a request. Items, messages and log lines that it writes carry the request's id, and functions that
 * read these items and messages run for the same request. So one id finds everything that a request has led to.
 */
export function runWithRequest<Result>(ids: RequestIds, act: () => Result): Result {
  return contexts.run({ ...ids, mayHaveChanged: false }, act);
}

/** Runs a function that a request starts but that is not part of it: its writes are no change by that request. */
export function runWithoutRequest<Result>(act: () => Result): Result {
  return contexts.exit(act);
}

/** Notes that the request has written something, or may have. */
export function noteChange(): void {
  const context = contexts.getStore();
  if (context) context.mayHaveChanged = true;
}

/** Returns whether the request may have changed anything so far; `true` outside a request. */
export function mayHaveChanged(): boolean {
  return contexts.getStore()?.mayHaveChanged ?? true;
}

/** Returns the request's id as a field of an item or a log line; no field where the id is not known. */
export function requestFields(): { requestId?: string } {
  const { requestId } = contexts.getStore() ?? {};
  return requestId === undefined ? {} : { requestId };
}

/** Returns the id of the access token that the request was sent with; `undefined` where it is not known. */
export function requestTokenId(): string | undefined {
  return contexts.getStore()?.tokenId;
}
