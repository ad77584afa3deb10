import type { MiddlewareObj } from '@middy/core';
import type { Context } from '../context.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import { ApiError } from '../contract/errors.ts';
import {
  deleteIdempotencyClaim,
  idempotencyRecordWrite,
  putIdempotencyClaim,
  type Request,
  readIdempotencyRecord,
} from '../table/idempotency.ts';
import { AlreadyDone } from '../table/transact.ts';
import { OutcomeUnknown } from '../table/unavailable.ts';
import { type ApiEvent, type ApiResult, callerOf, header } from './api-event.ts';
import { pick, replayedResponse } from './envelope.ts';
import { RequestTimeout } from './time-limit.ts';

/**
 * Carries a POST with an Idempotency-Key out once: answers from the record where there is one, before any look at
 * state and again before a refusal, and else hands the store the write that makes the record, so that it lands with
 * the mutation or not at all. What calls out is noted as under way before, for its mutation comes too late to keep a
 * twin from calling out too.
 */
export function idempotent(row: Endpoint, open: () => Context): MiddlewareObj<ApiEvent, ApiResult> {
  return {
    before: async ({ event }) => {
      const request = requestOf(row, event);
      if (!request) return undefined;
      const { organization } = callerOf(event);
      const context = open();
      const known = await recorded(row, event, request, context);
      if (known) return known;
      const lease = row.callsOut && (await putIdempotencyClaim(context, organization, request));
      const recordResponse = (answer: unknown) =>
        idempotencyRecordWrite(context, organization, request, row.data && pick(row.data, answer), lease);
      event.state = { ...event.state, recordResponse, lease };
      return undefined;
    },
    onError: async (exchange) => {
      const { event, error } = exchange;
      const request = requestOf(row, event);
      if (!request || !event.state?.caller) return;
      const { lease } = event.state;
      // What cannot be forgotten now is forgotten when its lease ends; the answer does not wait for it.
      if (lease && !(error instanceof RequestTimeout))
        await deleteIdempotencyClaim(open(), callerOf(event).organization, request, lease).catch(() => {});
      if (!(error instanceof AlreadyDone) && !mayBeCarriedOut(event, error) && !mayBeLate(event, error)) return;
      try {
        exchange.response = await recorded(row, event, request, open());
        if (!exchange.response && error instanceof AlreadyDone)
          exchange.error = row.callsOut ? busy() : new OutcomeUnknown();
      } catch (failure) {
        // A twin, or this request, may have been carried out.
        const unread = failure instanceof ApiError && failure.code === 'unavailable';
        exchange.error = unread ? new OutcomeUnknown(failure) : (failure as Error);
      }
    },
  };
}

/** Whether a request may be carried out although it failed: its record tells. */
function mayBeCarriedOut({ state }: ApiEvent, error: unknown): boolean {
  return state?.recordResponse !== undefined && error instanceof OutcomeUnknown;
}

/**
 * Whether a refusal may be of a state that has changed since a twin of the request was carried out: after this one had
 * found nothing under the key, and before it looked at the state. What calls out has said first that it is under way.
 */
function mayBeLate({ state }: ApiEvent, error: unknown): boolean {
  return state?.recordResponse !== undefined && !state.lease && error instanceof ApiError && error.status < 500;
}

function busy(): ApiError {
  return new ApiError(
    'request_in_progress',
    'A request with this Idempotency-Key is in progress; retry after the time in Retry-After.',
    [],
    {
      'Retry-After': '1',
    },
  );
}

function requestOf(row: Endpoint, event: ApiEvent): Request | undefined {
  const key = row.method === 'POST' && row.scope ? header(event, 'Idempotency-Key') : undefined;
  if (key === undefined) return undefined;
  return { key, operation: `${row.method} ${row.path}`, path: event.rawPath, body: event.state?.body };
}

async function recorded(
  row: Endpoint,
  event: ApiEvent,
  request: Request,
  context: Context,
): Promise<ApiResult | undefined> {
  const { organization } = callerOf(event);
  const found = await readIdempotencyRecord(context, organization, request);
  if (found === 'another request')
    throw new ApiError(
      'idempotency_key_reused',
      'This Idempotency-Key was used for a different request; use a new key.',
    );
  if (found === 'in progress') throw busy();
  return found && replayedResponse(row, event, found.data);
}
