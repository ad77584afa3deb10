import type { Context as LambdaContext } from 'aws-lambda';
import { type Endpoint, templateOf } from '../contract/endpoint.ts';
import { endpoints } from '../contract/endpoints.ts';
import { ApiError } from '../contract/errors.ts';
import { type ApiEvent, type ApiResult, header } from '../http/api-event.ts';
import { errorResponse } from '../http/middleware/envelope.ts';
import { readSentInput } from '../tools/sent-input.ts';
import { type OperationId, readToolInput, splitToolInput } from '../tools/tool-definitions.ts';
import { readIfMatch } from './if-match.ts';

/** The handler of an endpoint, as Lambda calls it. */
type Handler = (event: ApiEvent, context: LambdaContext) => Promise<ApiResult>;

/** The handlers of the operations that are offered as tools. */
export type Handlers = Readonly<Partial<Record<OperationId, Handler>>>;

/** A request to `POST /mcp`, and the operations that it can call. */
export type McpRequest = { event: ApiEvent; lambda: LambdaContext; handlers: Handlers };

/** The response of an operation: the parsed body of its HTTP response. */
export type OperationResponse = {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: Record<string, unknown>;
  /** Which arguments were left out, for the model. */
  note?: string | undefined;
};

/**
 * Calls an operation through its own handler, with the same checks, limits, idempotency and errors as a call of the HTTP
 * API. The request has the id, the token and the Idempotency-Key of the request to `POST /mcp`, and is counted with it.
 *
 * @param sent the input of the tool of the operation, as the model sent it
 */
export async function callOperation(
  request: McpRequest,
  operation: OperationId,
  sent: Readonly<Record<string, unknown>>,
): Promise<OperationResponse> {
  const { event, lambda, handlers } = request;
  const handler = handlers[operation];
  if (!handler) throw new Error(`The operation ${operation} is not offered as a tool.`);
  try {
    const ifMatch = readIfMatch(operation, sent);
    const { input, note } = readSentInput(operation, ifMatch.input);
    readToolInput(operation, input, { json: bodyText(event), at: ['params', 'arguments'] });
    const notes = [ifMatch.note, note].filter((one) => one !== undefined);
    return {
      ...parsed(await handler(eventFor(event, operation, input, ifMatch.header), lambda)),
      note: notes.length > 0 ? notes.join(' ') : undefined,
    };
  } catch (error) {
    if (error instanceof ApiError) return parsed(errorResponse(event, error));
    throw error;
  }
}

/** Returns the body of a request as text. */
export function bodyText({ body = '', isBase64Encoded }: ApiEvent): string {
  return Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8').toString();
}

/** Returns the event that API Gateway would send for a valid input of an operation, and its `If-Match`. */
function eventFor(
  event: ApiEvent,
  operation: OperationId,
  input: Readonly<Record<string, unknown>>,
  ifMatch: string | undefined,
): ApiEvent {
  const row: Endpoint = endpoints[operation];
  const { method } = row;
  const { params, query, body } = splitToolInput(operation, input);
  const path = row.path.replaceAll(/:(\w+)/g, (_, name: string) => String(params[name]));
  const routeKey = `${method} ${templateOf(row.path)}`;
  const idempotencyKey = header(event, 'Idempotency-Key');
  return {
    ...event,
    routeKey,
    rawPath: path,
    rawQueryString: new URLSearchParams(query).toString(),
    pathParameters: params as Record<string, string>,
    headers: {
      authorization: header(event, 'Authorization'),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      ...(body && { 'content-type': 'application/json' }),
    },
    requestContext: {
      ...event.requestContext,
      http: { ...event.requestContext.http, method, path },
      routeKey,
    },
    body: body && JSON.stringify(body),
    isBase64Encoded: false,
    state: { countedAs: event.rawPath },
  } as ApiEvent;
}

function parsed({ statusCode = 200, headers = {}, body = '{}' }: ApiResult): OperationResponse {
  return { status: statusCode, headers: headers as Record<string, string>, body: JSON.parse(body) };
}
