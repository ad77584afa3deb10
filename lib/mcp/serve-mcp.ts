import middy from '@middy/core';
import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolErrorCode,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Context as LambdaContext } from 'aws-lambda';
import { type Context, processContext } from '../context/context.ts';
import { isDeeper } from '../contract/depth.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import type { ApiEvent, ApiResult } from '../http/api-event.ts';
import { authenticate } from '../http/middleware/authenticate.ts';
import { acceptsJson } from '../http/middleware/content-negotiation.ts';
import { headersOf, respondToErrors } from '../http/middleware/envelope.ts';
import { limitRequests } from '../http/middleware/limit-requests.ts';
import { parse, rejectCompressed } from '../http/middleware/parse.ts';
import { requestHooks, withRequestIds } from '../http/serve.ts';
import { bodyText, type Handlers, type McpRequest } from './call-operation.ts';
import { checkOrigin } from './check-origin.ts';
import { notAnObject, withoutNulls, withSentence } from './messages.ts';
import { createMcpServer } from './server.ts';

/**
 * Returns the Lambda handler of `POST /mcp`: the Model Context Protocol over Streamable HTTP, without sessions. Each
 * request is complete: a new server answers it with JSON and is closed. Origin, access token, rate limit and size are
 * checked before the protocol; their errors have the envelope of the API.
 *
 * @param handlers the handlers of the operations that are offered as tools
 * @param getContext returns the context; tests pass their own
 */
export function serveMcp(row: Endpoint, handlers: Handlers, getContext: () => Context = processContext) {
  const handler = middy<ApiEvent, ApiResult>(requestHooks(row, getContext))
    .use(respondToErrors())
    .use(checkOrigin(getContext))
    .use(authenticate(row, getContext))
    .use(limitRequests(getContext))
    .use(parse(row))
    .handler((event: ApiEvent, lambda: LambdaContext) => {
      rejectCompressed(event);
      return respond({ event, lambda, handlers });
    });
  return withRequestIds(handler, getContext);
}

async function respond(mcp: McpRequest): Promise<ApiResult> {
  const { event } = mcp;
  const { status, headers, text } = await answerOf(mcp);
  const type = headers.get('Content-Type');
  return {
    statusCode: status,
    headers: { ...headersOf(event), ...(type !== null && { 'Content-Type': type }) },
    body: text,
  };
}

/** Returns the answer to a message. */
async function answerOf(mcp: McpRequest): Promise<Pick<Response, 'status' | 'headers'> & { text: string }> {
  const sent = bodyText(mcp.event);
  const problem = problemOf(sent);
  const message = problem === undefined ? withoutNulls(parsed(sent)) : undefined;
  const wrong = notAnObject(message);
  const response =
    problem !== undefined
      ? errorResponse(400, null, ProtocolErrorCode.InvalidRequest, problem)
      : wrong !== undefined
        ? errorResponse(200, idOf(message), ProtocolErrorCode.InvalidParams, `${wrong} must be an object.`)
        : await protocolResponse(mcp, message === undefined ? sent : JSON.stringify(message), message);
  return { status: response.status, headers: response.headers, text: withSentence(await response.text()) };
}

/** Returns whether a message calls a method. */
const isMethod = (message: unknown, method: string) => (message as { method?: unknown } | undefined)?.method === method;

/** Returns the id of a message, for the response to it; `null` for one that no message may have. */
function idOf(message: unknown): string | number | null {
  const { id } = message as { id: unknown };
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/**
 * Answers a message by the SDK: in the latest revision of the protocol, or, for clients of earlier revisions, by the
 * transport of those. `createMcpHandler` alone would answer earlier clients with a stream, which API Gateway cannot send.
 */
async function protocolResponse(mcp: McpRequest, body: string, message: unknown): Promise<Response> {
  const request = requestOf(mcp.event, body);
  if (!(await isLegacyRequest(request))) {
    // A stream of notifications would outlast the request, so none can be opened.
    const modern = createMcpHandler(() => createMcpServer(mcp), { legacy: 'reject', maxSubscriptions: 0 });
    const answer = await modern.fetch(request);
    // The SDK calls it an internal error that the limit is reached, and clients try again.
    if (answer.status !== 200 || !isMethod(message, 'subscriptions/listen')) return answer;
    const { MethodNotFound } = ProtocolErrorCode;
    return errorResponse(404, idOf(message), MethodNotFound, 'There are no notifications to subscribe to.');
  }
  if (!acceptsJson(mcp.event))
    return errorResponse(406, null, notAcceptable, 'The service answers with JSON; send Accept: application/json.');
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  const server = createMcpServer(mcp);
  await server.connect(transport);
  try {
    return await transport.handleRequest(request);
  } finally {
    await server.close();
  }
}

/** The headers that the protocol reads, and the values that a `Request` can have. */
const protocolHeader = /^(accept|content-type|mcp-[a-z0-9-]+)$/;
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Returns the request as a `Request` of the web, with the headers that the protocol reads. The transport of earlier revisions wants
 * both types that a server may answer with, although it is told to answer with JSON only.
 */
function requestOf(event: ApiEvent, body: string): Request {
  const { headers, rawPath } = event;
  const sent = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value !== undefined && protocolHeader.test(name) && headerValue.test(value) ? [[name, value]] : [],
  );
  const all = { ...Object.fromEntries(sent), accept: 'application/json, text/event-stream' };
  return new Request(`https://localhost${rawPath}`, { method: 'POST', headers: all, body });
}

/** The maximum nesting depth of a message. The SDK reads messages by recursive functions, which overflow the stack at thousands. */
const deepestMessage = 1_000;

/** Returns why a message is not passed to the SDK; `undefined` if it is. */
function problemOf(body: string): string | undefined {
  // Revision 2025-03-26 had lists of messages, and each would count as one request.
  if (body.trimStart().startsWith('[')) return 'A list of messages is not supported; send one message in a request.';
  // Each level has two brackets.
  if (body.length > 2 * deepestMessage && isDeeper(parsed(body), deepestMessage))
    return `The message is nested more than ${deepestMessage} levels deep; send it with fewer levels.`;
  return undefined;
}

/** Returns the value of JSON; `undefined` for another text, which the SDK rejects. */
function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The code of errors of the transport. */
const notAcceptable = -32_000;

function errorResponse(status: number, id: string | number | null, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id, error: { code, message } }, { status });
}
