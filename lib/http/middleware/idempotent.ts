import type { MiddlewareObj } from '@middy/core';
import type { Context } from '../../context/context.ts';
import type { Endpoint, Versioned } from '../../contract/endpoint.ts';
import { ApiError } from '../../contract/errors.ts';
import { pick } from '../../contract/shapes.ts';
import { AlreadyDone } from '../../table/access/transact.ts';
import { OutcomeUnknown } from '../../table/access/unavailable.ts';
import {
  deleteIdempotencyLease,
  type IdempotentRequest,
  idempotencyRecordWrites,
  leaseIdempotencyRecord,
  readIdempotencyRecord,
} from '../../table/idempotency.ts';
import { type ApiEvent, type ApiResult, callerOf, header } from '../api-event.ts';
import { replayedResponse } from './envelope.ts';
import { RequestTimeout } from './time-limit.ts';

/**
 * Returns the middleware that processes a POST with an Idempotency-Key only once. It looks for an idempotency record
 * before the behaviour runs, and once more before some error responses. If there is a record, it responds from it.
 * Otherwise it gives the behaviour a write that creates the record in the same transaction as the change. If an
 * endpoint calls an external service (`callsOut`), its request takes a lease before the call: the transaction comes
 * only after the call, too late to prevent the call of a duplicate request.
 */
export function idempotent(row: Endpoint, getContext: () => Context): MiddlewareObj<ApiEvent, ApiResult> {
  return {
    before: async ({ event }) => {
      const request = requestOf(row, event);
      if (!request) return undefined;
      const { organization } = callerOf(event);
      const context = getContext();
      const recorded = await recordedResponse(row, event, request, context);
      if (recorded) return recorded;
      const lease = row.callsOut && (await leaseIdempotencyRecord(context, organization, request));
      const recordResponse = (result: unknown) => {
        const { data, version } = row.versioned ? (result as Versioned<unknown>) : { data: result };
        const response = { data: row.data && pick(row.data, data), version };
        return idempotencyRecordWrites(context, organization, request, response, lease);
      };
      event.state = { ...event.state, recordResponse, lease };
      return undefined;
    },
    onError: async (call) => {
      const { event, error } = call;
      const request = requestOf(row, event);
      if (!request || !event.state?.caller) return;
      const { lease } = event.state;
      // If the lease cannot be deleted, it expires; the response does not wait for that.
      if (lease && !(error instanceof RequestTimeout))
        await deleteIdempotencyLease(getContext(), callerOf(event).organization, request, lease).catch(() => {});
      if (!(error instanceof AlreadyDone) && !mayBeProcessed(event, error) && !mayBeDueToDuplicate(event, error))
        return;
      try {
        call.response = await recordedResponse(row, event, request, getContext());
        if (!call.response && error instanceof AlreadyDone)
          call.error = row.callsOut ? requestInProgress() : new OutcomeUnknown();
      } catch (failure) {
        // This request or a duplicate of it may have been processed.
        const unread = failure instanceof ApiError && failure.code === 'unavailable';
        call.error = unread ? new OutcomeUnknown(failure) : (failure as Error);
      }
    },
  };
}

/** Returns whether a failed request may have been processed; its idempotency record shows whether it was. */
function mayBeProcessed({ state }: ApiEvent, error: unknown): boolean {
  return state?.recordResponse !== undefined && error instanceof OutcomeUnknown;
}

/**
 * Returns whether a duplicate request may have caused the error of this request: it was processed after this request
 * found no record, and before this request read the state. A lease prevents this.
 */
function mayBeDueToDuplicate({ state }: ApiEvent, error: unknown): boolean {
  return state?.recordResponse !== undefined && !state.lease && error instanceof ApiError && error.status < 500;
}

/** Returns the error for a request whose duplicate is in progress. */
function requestInProgress(): ApiError {
  const message = 'A request with this Idempotency-Key is in progress; retry after the time in Retry-After.';
  return new ApiError('request_in_progress', message, [], { 'Retry-After': '1' });
}

/** Returns the parts of a request that identify its idempotency record; `undefined` without an Idempotency-Key. */
function requestOf(row: Endpoint, event: ApiEvent): IdempotentRequest | undefined {
  const key = row.method === 'POST' && row.scope ? header(event, 'Idempotency-Key') : undefined;
  if (key === undefined) return undefined;
  return { key, operation: `${row.method} ${row.path}`, path: event.rawPath, body: event.state?.body };
}

/** Returns the response from the idempotency record of a request, if it has one. */
async function recordedResponse(
  row: Endpoint,
  event: ApiEvent,
  request: IdempotentRequest,
  context: Context,
): Promise<ApiResult | undefined> {
  const { organization } = callerOf(event);
  const found = await readIdempotencyRecord(context, organization, request);
  if (found === 'another request')
    throw new ApiError(
      'idempotency_key_reused',
      'This Idempotency-Key was used for a different request; use a new key.',
    );
  if (found === 'in progress') throw requestInProgress();
  return found && replayedResponse(row, event, found);
}
