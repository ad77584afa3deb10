import middy from '@middy/core';
import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolErrorCode,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Context as LambdaContext } from 'aws-lambda';
import { type Context, processContext } from '../context.ts';
import type { Endpoint } from '../contract/endpoint.ts';
import type { ApiEvent, ApiResult } from '../http/api-event.ts';
import { authenticate } from '../http/middleware/authenticate.ts';
import { errorResponses, headersOf } from '../http/middleware/envelope.ts';
import { limitRequests } from '../http/middleware/limit-requests.ts';
import { parse } from '../http/middleware/parse.ts';
import { requestHooks } from '../http/serve.ts';
import { runWithRequest } from '../request-context.ts';
import { bodyOf, type Handlers, type McpRequest } from './call-operation.ts';
import { checkOrigin } from './check-origin.ts';
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
    .use(errorResponses())
    .use(checkOrigin(getContext))
    .use(authenticate(row, getContext))
    .use(limitRequests(getContext))
    .use(parse(row))
    .handler((event: ApiEvent, lambda: LambdaContext) => respond({ event, lambda, handlers }));
  return (event: ApiEvent, lambda: LambdaContext): Promise<ApiResult> =>
    runWithRequest({ requestId: event.requestContext.requestId }, () => handler(event, lambda));
}

async function respond(mcp: McpRequest): Promise<ApiResult> {
  const { event } = mcp;
  const response = isBatch(event) ? batchResponse() : await protocolResponse(mcp);
  const { status, headers } = response;
  const type = headers.get('Content-Type');
  return {
    statusCode: status,
    headers: { ...headersOf(event), ...(type !== null && { 'Content-Type': type }) },
    body: await response.text(),
  };
}

/**
 * Answers a message by the SDK: in the latest revision of the protocol, or, for clients of earlier revisions, by the
 * transport of those. `createMcpHandler` alone would answer earlier clients with a stream, which API Gateway cannot send.
 */
async function protocolResponse(mcp: McpRequest): Promise<Response> {
  const request = requestOf(mcp.event);
  if (!(await isLegacyRequest(request))) {
    // A stream of notifications would outlast the request, so none can be opened.
    const modern = createMcpHandler(() => createMcpServer(mcp), { legacy: 'reject', maxSubscriptions: 0 });
    return modern.fetch(request);
  }
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

/** Returns the request as a `Request` of the web, with the headers that the protocol reads. */
function requestOf(event: ApiEvent): Request {
  const { headers, rawPath } = event;
  const sent = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value !== undefined && protocolHeader.test(name) && headerValue.test(value) ? [[name, value]] : [],
  );
  return new Request(`https://localhost${rawPath}`, { method: 'POST', headers: sent, body: bodyOf(event) });
}

/** Returns whether the body is a list of messages: revision 2025-03-26 had them, and each would count as one request. */
function isBatch(event: ApiEvent): boolean {
  return bodyOf(event).trimStart().startsWith('[');
}

function batchResponse(): Response {
  const message = 'A list of messages is not supported; send one message in a request.';
  const error = { code: ProtocolErrorCode.InvalidRequest, message };
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 400 });
}
