import { AsyncLocalStorage } from 'node:async_hooks';
import { type Actor, theService } from '../../contract/actors.ts';

/** The id of the current request and who sends it, as far as they are known. */
export type RequestSource = {
  requestId?: string | undefined;
  /** The caller, or the agent that works; absent while the service works by itself. */
  actor?: Actor | undefined;
};

/** The current request, and whether it may have changed something. */
type RequestContext = RequestSource & { mayHaveChanged: boolean };

const contexts = new AsyncLocalStorage<RequestContext>();

/**
 * Runs a function for a request. Items, messages and log lines that it writes have the id of the request, and functions
 * that process these items and messages run for the same request. So one id finds all effects of a request.
 */
export function runWithRequest<Result>(source: RequestSource, act: () => Result): Result {
  return contexts.run({ ...source, mayHaveChanged: false }, act);
}

/** Runs a function for the current request in the name of an actor: items that it writes name this actor. */
export function runAs<Result>(actor: Actor, act: () => Result): Result {
  const { requestId } = contexts.getStore() ?? {};
  return runWithRequest({ requestId, actor }, act);
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

/** Returns who is making the current change. */
export function currentActor(): Actor {
  return contexts.getStore()?.actor ?? theService;
}

/** The fields of an item with a history: who has made its last change, the service if nobody, and in which request, if that is known. */
export type Authorship = { by?: Actor; requestId?: string };

/** Returns the fields of an item that say who changes it. */
export function authorship(): Authorship {
  const { actor } = contexts.getStore() ?? {};
  return { ...(actor && { by: actor }), ...requestFields() };
}

/** The fields of an item that say who has changed it, as `undefined`: an update removes the fields of the previous change. */
export const noAuthorship = { by: undefined, requestId: undefined };
