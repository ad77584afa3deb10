import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { templateOf } from '../../lib/contract/endpoint.ts';
import { familyOf, fileNameOf, matchPath, routes } from '../../lib/contract/routes.ts';
import { isPassedOn } from '../../lib/http/payload.ts';
import { contextOf, type Handler, loadHandler } from './functions.ts';
import { codeOf, Problem } from './problem.ts';

/** API functions may take this long: an HTTP API gives up at 30 s. */
const timeoutSeconds = 29;

/** An HTTP API takes no larger body. */
const bodyLimit = 10 * 1024 * 1024;

/** A running gateway: API Gateway's part of the local deployment. */
export type Gateway = { url: string; stop: () => Promise<void> };

/**
 * Serves the contract's rows on the loopback by the Lambda handlers themselves, called with API Gateway v2 events.
 * What no row takes goes to the `$default` function, as in AWS.
 *
 * @param port 0 takes any free port
 * @param changed called after each request that may have changed something
 * @throws `Problem` when the port is taken
 */
export async function startGateway(port: number, changed: () => void = () => {}): Promise<Gateway> {
  const handlers = new Map<string, Handler>(
    await Promise.all(
      routes.map(async ([operation, row]) => {
        return [operation, await loadHandler(familyOf(row), fileNameOf(operation))] as const;
      }),
    ),
  );
  const unmatched = await loadHandler('open', 'unmatched');

  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 65_000;
  await listening(server, port);
  const { port: taken } = server.address() as { port: number };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    if (!body) return send(response, { statusCode: 413, body: '{"message":"Request Too Long"}' });
    const path = decoded((request.url as string).split('?')[0] as string);
    const match = matchPath(path).find(({ row }) => row.method === request.method);
    const routeKey = match ? `${match.row.method} ${templateOf(match.row.path)}` : '$default';
    const event = eventOf(request, { path, body, routeKey, params: match?.params });
    const handler = match ? (handlers.get(match.operation) as Handler) : unmatched;
    const context = contextOf(match?.operation ?? 'unmatched', timeoutSeconds);
    try {
      const result = (await handler(event, context)) as APIGatewayProxyStructuredResultV2;
      if (!isPassedOn(result)) throw new Error('The response is larger than Lambda passes on.');
      send(response, result);
    } catch {
      // What API Gateway answers for a function that fails; the function has logged why.
      send(response, { statusCode: 500, body: '{"message":"Internal Server Error"}' });
    }
    if (match && match.row.method !== 'GET') changed();
  }

  return {
    url: `http://127.0.0.1:${taken}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        // A request that outlives its function's time is not waited for.
        setTimeout(() => server.closeAllConnections(), 5_000).unref();
      }),
  };
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const taken = codeOf(error) === 'EADDRINUSE';
      reject(taken ? new Problem(`Port ${port} is taken; stop what uses it, or set PORT to a free one.`) : error);
    });
    server.listen(port, '127.0.0.1', resolve);
  });
}

/** The whole body, or `undefined` for one that an HTTP API would not take. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= bodyLimit) chunks.push(chunk);
  }
  return length <= bodyLimit ? Buffer.concat(chunks) : undefined;
}

/** The path as an HTTP API hands it over, decoded once; what cannot be decoded stays as it is and matches nothing. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

type Routed = { path: string; body: Buffer; routeKey: string; params: Record<string, string> | undefined };

function eventOf(request: IncomingMessage, { path, body, routeKey, params }: Routed): APIGatewayProxyEventV2 {
  const headers = Object.entries(request.headersDistinct).map(([name, values]) => [name, (values ?? []).join(',')]);
  const text = body.toString('utf8');
  const isText = Buffer.from(text).equals(body);
  return {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString: (request.url as string).split('?').slice(1).join('?'),
    headers: Object.fromEntries(headers),
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
    ...(body.length > 0 && { body: isText ? text : body.toString('base64') }),
    isBase64Encoded: body.length > 0 && !isText,
  };
}

function send(response: ServerResponse, result: APIGatewayProxyStructuredResultV2): void {
  const { statusCode = 200, headers = {}, body = '', isBase64Encoded = false } = result;
  response.statusCode = statusCode;
  // Not by `writeHead`, which sends the headers before the length of the body is known, and the body in chunks then.
  response.setHeaders(new Map(Object.entries(headers as Record<string, string>)));
  response.end(body, isBase64Encoded ? 'base64' : 'utf8');
}
