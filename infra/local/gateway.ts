import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { methodsOf, templateOf } from '../../lib/contract/endpoint.ts';
import { fileNameOf, functionFolderOf, functionNameOf, matchPath, routes } from '../../lib/contract/routes.ts';
import { isPassedOn } from '../../lib/http/middleware/payload.ts';
import type { AllowedOrigins } from '../../lib/settings/cors.ts';
import { codeOf, Problem } from '../problem.ts';
import { corsHeaders, isAllowedHost, preflightHeaders } from './cors.ts';
import { contextOf, type Handler, loadHandler } from './functions.ts';
import { createRequestTurns } from './request-turns.ts';

/** The timeout of API functions. API Gateway's own timeout is 30 s. */
const timeoutSeconds = 29;

/** The largest request body in bytes, as API Gateway limits it. */
const bodyLimit = 10 * 1024 * 1024;

/** How long a gateway that stops waits for current requests. */
const closeWithinMs = 5_000;

/** A running gateway, which does the work of API Gateway in a local deployment. */
export type Gateway = { url: string; stop: () => Promise<void> };

/**
 * Serves the endpoints of the contract on the loopback. It calls the Lambda handlers with API Gateway v2 events. As in AWS,
 * the `$default` function answers requests that match no endpoint.
 *
 * @param port 0 stands for any free port
 * @param isAllowed whether web pages of an origin may call the API; API Gateway too handles CORS without the functions. As
 *   there, a request for another host gets 403
 * @throws `Problem` if the port is in use
 */
export async function startGateway(port: number, isAllowed: AllowedOrigins = () => false): Promise<Gateway> {
  const handlers = new Map<string, Handler>(
    await Promise.all(
      routes.map(async ([operation, row]) => {
        return [
          operation,
          await loadHandler(functionFolderOf(row), fileNameOf(functionNameOf(operation, row))),
        ] as const;
      }),
    ),
  );
  const unmatched = await loadHandler('open', 'unmatched');
  const turnOfRequest = createRequestTurns();

  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 65_000;
  await listening(server, port);
  const { port: listeningPort } = server.address() as { port: number };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { host = request.headers.host, target } = targetOf(request.url as string);
    if (!isAllowedHost(host, isAllowed)) {
      const message = `This service is not reached as ${host}; use 127.0.0.1, or add the origin to CORS_ORIGINS.`;
      return send(response, { statusCode: 403, body: JSON.stringify({ message }) });
    }
    const preflight = preflightHeaders(request.method, request.headers, isAllowed);
    if (preflight) return send(response, { statusCode: 204, headers: preflight });
    for (const [name, value] of Object.entries(corsHeaders(request.headers, isAllowed)))
      response.setHeader(name, value);
    const body = await readBody(request);
    if (!body) return send(response, { statusCode: 413, body: '{"message":"Request Too Long"}' });
    await turnOfRequest();
    const [sentPath = '', ...query] = target.split('?');
    const path = decoded(sentPath);
    const match = matchPath(path).find(({ row }) => methodsOf(row).some((method) => method === request.method));
    const routeKey = match ? `${request.method} ${templateOf(match.row.path)}` : '$default';
    const event = eventOf(request, { path, query: query.join('?'), body, routeKey, params: match?.params });
    const handler = match ? (handlers.get(match.operation) as Handler) : unmatched;
    const context = contextOf(match ? functionNameOf(match.operation, match.row) : 'unmatched', timeoutSeconds);
    try {
      const result = (await handler(event, context)) as APIGatewayProxyStructuredResultV2;
      if (!isPassedOn(result)) throw new Error('The response is larger than the limit of Lambda.');
      send(response, result);
    } catch {
      // API Gateway answers this for a failed function. The function has logged its error.
      send(response, { statusCode: 500, body: '{"message":"Internal Server Error"}' });
    }
  }

  return {
    url: `http://127.0.0.1:${listeningPort}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        setTimeout(() => server.closeAllConnections(), closeWithinMs).unref();
      }),
  };
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const taken = codeOf(error) === 'EADDRINUSE';
      reject(
        taken ? new Problem(`Port ${port} is in use; stop the other program, or set PORT to a free port.`) : error,
      );
    });
    server.listen(port, '127.0.0.1', resolve);
  });
}

/** Returns the whole body, or `undefined` if it is larger than the limit. */
function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  // By events: an iterator takes more of the time of a small request than its body.
  return new Promise((resolve, reject) => {
    request
      .on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length <= bodyLimit) chunks.push(chunk);
      })
      .on('end', () => resolve(length <= bodyLimit ? Buffer.concat(chunks) : undefined))
      .on('error', reject);
  });
}

/** Returns the headers of a request by their names in lower case; the values of a repeated one are joined with commas. */
function headersOf({ rawHeaders }: IncomingMessage): Record<string, string> {
  const headers = new Map<string, string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = [(rawHeaders[at] as string).toLowerCase(), rawHeaders[at + 1] as string];
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before},${value}`);
  }
  return Object.fromEntries(headers);
}

/**
 * Returns the host and the rest of a request target in absolute form, such as `http://127.0.0.1:3000/health`, as clients send it
 * that take the service for a proxy. Its host counts in place of the header (RFC 9112, 3.2.2). Other targets have no host.
 */
function targetOf(url: string): { host?: string; target: string } {
  const [, host, rest = ''] = /^https?:\/\/([^/?#]+)(.*)$/is.exec(url) ?? [];
  if (host === undefined) return { target: url };
  return { host, target: rest.startsWith('/') ? rest : `/${rest}` };
}

/** Returns the path as API Gateway puts it into an event: decoded once. A path that cannot be decoded stays unchanged. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

type Routed = {
  path: string;
  query: string;
  body: Buffer;
  routeKey: string;
  params: Record<string, string> | undefined;
};

function eventOf(request: IncomingMessage, { path, query, body, routeKey, params }: Routed): APIGatewayProxyEventV2 {
  const isText = isUtf8(body);
  return {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString: query,
    headers: headersOf(request),
    ...(params && { pathParameters: params }),
    requestContext: {
      accountId: '000000000000',
      apiId: 'local',
      domainName: 'localhost',
      domainPrefix: 'localhost',
      http: {
        method: request.method as string,
        path,
        protocol: `HTTP/${request.httpVersion}`,
        sourceIp: request.socket.remoteAddress ?? '',
        userAgent: request.headers['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      routeKey,
      stage: '$default',
      time: new Date().toISOString(),
      timeEpoch: Date.now(),
    },
    ...(body.length > 0 && { body: body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !isText,
  };
}

function send(response: ServerResponse, result: APIGatewayProxyStructuredResultV2): void {
  const { statusCode = 200, headers = {}, body = '', isBase64Encoded = false } = result;
  response.statusCode = statusCode;
  // `writeHead` would send the headers before the length of the body is known, and then the body in chunks.
  // A response has a `Vary` of its own beside the `Vary` of CORS.
  for (const [name, value] of Object.entries(headers as Record<string, string>)) response.appendHeader(name, value);
  response.end(body, isBase64Encoded ? 'base64' : 'utf8');
}
