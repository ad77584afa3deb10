import type { MiddlewareObj } from '@middy/core';
import type { Content, CursorPage, Endpoint, Page, Versioned } from '../../contract/endpoint.ts';
import { ApiError } from '../../contract/errors.ts';
import { pick, type Schema } from '../../contract/shapes.ts';
import type { RecordedResponse } from '../../table/idempotency.ts';
import type { ApiEvent, ApiResult } from '../api-event.ts';
import { etagOf } from '../preconditions.ts';
import { negotiateContent } from './content-negotiation.ts';
import { fitted, fittingItems } from './payload.ts';

const json = 'application/json';

/**
 * Returns the headers of every response: the request id, no caching, no guessing of types, and the limit of requests if there is
 * one. A request that exceeds the limit of requests that call out has that limit instead.
 */
export function headersOf(event: ApiEvent): Record<string, string> {
  const { admission, callAdmission } = event.state ?? {};
  return {
    'X-Request-Id': event.requestContext.requestId,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(callAdmission?.error ? callAdmission.headers : admission?.headers),
  };
}

/** Returns the middleware that turns the result of a behaviour into the response: envelope, `pagination` and `ETag`. */
export function envelope(row: Endpoint): MiddlewareObj<ApiEvent, unknown> {
  return {
    after: (request) => {
      request.response = responseOf(row, request.event, request.response);
    },
  };
}

/** Returns the middleware that turns an error into the error response, unless another middleware has set a response. */
export function respondToErrors(): MiddlewareObj<ApiEvent, ApiResult> {
  return {
    onError: (request) => {
      request.response ??= errorResponse(request.event, request.error);
    },
  };
}

/** Returns the response of an endpoint for the result of its behaviour. */
function responseOf(row: Endpoint, event: ApiEvent, result: unknown): ApiResult {
  if (row.media) {
    const { body, headers } = typeof result === 'string' ? { body: result, headers: {} } : (result as Content);
    const all = { ...headersOf(event), 'Content-Type': row.media, ...headers };
    return negotiateContent(event, { statusCode: row.status, headers: all }, body);
  }
  if (row.paged === 'cursor') {
    const { items, next } = result as CursorPage<unknown>;
    const { limit } = queryOf(event);
    const data = items.map((item) => pick(row.data as Schema, item));
    return cursorPageResponse(row, event, data, { limit, next });
  }
  if (row.paged) {
    const { items, total } = result as Page<unknown>;
    return pageResponse(
      row,
      event,
      items.map((item) => pick(row.data as Schema, item)),
      total,
    );
  }
  if (!row.data) return successResponse(row, event, {});
  if (!row.versioned) {
    const respond = (data: unknown) => successResponse(row, event, { data });
    const data = pick(row.data, result);
    const whole = respond(data);
    const fitting = fitted(event, whole);
    if (fitting) return fitting;
    // A list without a total: its first items, which the reader takes first.
    return Array.isArray(data) ? respond(data.slice(0, fittingItems(data, respond([])))) : whole;
  }
  const { data, version } = result as Versioned<unknown>;
  return successResponse(row, event, { data: pick(row.data, data) }, etagHeader(data, version));
}

/**
 * Returns the response with a page of a list. A page that is too large for a Lambda response ends early, and its
 * `limit` is the number of its items, so that the next page always starts at `offset + limit`.
 */
function pageResponse(row: Endpoint, event: ApiEvent, items: readonly unknown[], total: number): ApiResult {
  const { limit, offset } = queryOf(event);
  const page = (data: readonly unknown[], applied: number) =>
    successResponse(row, event, { data, pagination: { limit: applied, offset, total } });
  const whole = fitted(event, page(items, limit));
  if (whole) return whole;
  const fitting = fittingItems(items, page([], limit));
  return page(items.slice(0, fitting), fitting);
}

/**
 * Returns the response with a page of a list by cursor. A page that is too large for a Lambda response ends early, and the next
 * one goes on after its last item. Only pages of tasks can be that large.
 */
function cursorPageResponse(
  row: Endpoint,
  event: ApiEvent,
  items: readonly unknown[],
  pagination: { limit: number; next: string | null },
): ApiResult {
  const page = (data: readonly unknown[], next: string | null) =>
    successResponse(row, event, { data, pagination: { ...pagination, next } });
  const whole = fitted(event, page(items, pagination.next));
  if (whole) return whole;
  const fitting = items.slice(0, fittingItems(items, page([], pagination.next)));
  const { id } = fitting.at(-1) as { id: string };
  return page(fitting, id);
}

/** Returns the requested page. The query of a list with a total has both parameters; the query of other lists only `limit`. */
function queryOf(event: ApiEvent) {
  return event.state?.query as { limit: number; offset: number };
}

/** Returns the response of a duplicate request, with the recorded data and version. */
export function replayedResponse(row: Endpoint, event: ApiEvent, { data, version }: RecordedResponse): ApiResult {
  const etag: Record<string, string> = version === undefined ? {} : etagHeader(data, version);
  return successResponse(row, event, row.data ? { data } : {}, { 'Idempotency-Replayed': 'true', ...etag });
}

/** Returns the header `ETag` of a version of a resource; `data` is the resource, with its `id`. */
function etagHeader(data: unknown, version: number): { ETag: string } {
  return { ETag: etagOf({ id: (data as { id: string }).id, version }) };
}

function successResponse(
  row: Endpoint,
  event: ApiEvent,
  rest: object,
  headers: Record<string, string> = {},
): ApiResult {
  return {
    statusCode: row.status,
    headers: { ...headersOf(event), 'Content-Type': json, ...headers },
    body: JSON.stringify({ success: true, ...rest }),
  };
}

/**
 * Returns the error response for an error. Errors other than `ApiError` lead to `internal_error`, without their
 * message.
 */
export function errorResponse(event: ApiEvent, error: unknown): ApiResult {
  const apiError =
    error instanceof ApiError
      ? error
      : new ApiError(
          'internal_error',
          'The service failed to process the request; its operator finds the cause in the log by the requestId.',
        );
  const { code, message, details, status, headers } = apiError;
  const requestId = event.requestContext.requestId;
  return {
    statusCode: status,
    headers: { ...headersOf(event), 'Content-Type': json, ...headers },
    body: JSON.stringify({
      success: false,
      error: { code, message, ...(details.length > 0 && { details }), requestId },
    }),
  };
}
