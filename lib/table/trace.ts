import { AsyncLocalStorage } from 'node:async_hooks';

/** Where something that is done comes from, as far as it is known. */
export type Origin = {
  /** The request that it goes back to. */
  requestId?: string | undefined;
  /** The id of the token that asked for it. */
  tokenId?: string | undefined;
};

/** What is done on behalf of a request, and whether it may have changed anything so far. */
type Doing = Origin & { mayHaveChanged: boolean };

const origins = new AsyncLocalStorage<Doing>();

/**
 * Does something on behalf of a request: what is written meanwhile carries the request's id, as do the messages and log
 * lines that come of it, in whatever function. So one id tells a whole story.
 */
export function onBehalfOf<Result>(origin: Origin, act: () => Result): Result {
  return origins.run({ ...origin, mayHaveChanged: false }, act);
}

/** Does something that is no part of the request which set it off: what it writes is no change by that request. */
export function onNobodysBehalf<Result>(act: () => Result): Result {
  return origins.exit(act);
}

/** Notes that a write was made, or may have been made. */
export function noteChange(): void {
  const doing = origins.getStore();
  if (doing) doing.mayHaveChanged = true;
}

/** Whether what is being done may have changed anything so far; `true` where it is not known. */
export function mayHaveChanged(): boolean {
  return origins.getStore()?.mayHaveChanged ?? true;
}

/** The request on whose behalf something is being done, as a field of what is written; none where it is not known. */
export function traced(): { requestId?: string } {
  const { requestId } = origins.getStore() ?? {};
  return requestId === undefined ? {} : { requestId };
}

/** The token on whose behalf something is being done, by its id; none where it is not known. */
export function askedBy(): string | undefined {
  return origins.getStore()?.tokenId;
}
