import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { type AllowedOrigins, cors, isOriginPattern, originsIn, readAllowedOrigins } from '../../lib/settings/cors.ts';
import { Problem } from '../problem.ts';

/**
 * Reads `CORS_ORIGINS`: origins separated by commas, such as `http://localhost:*`, with `*` for any port; `*` alone stands
 * for every origin.
 *
 * @throws `Problem` for an origin that can match nothing
 */
export function readCorsOrigins(text: string): AllowedOrigins {
  const wrong = originsIn(text).find((origin) => !isOriginPattern(origin));
  if (wrong !== undefined)
    throw new Problem(
      `CORS_ORIGINS has ${JSON.stringify(wrong)}; write origins such as http://localhost:5173 or http://localhost:*.`,
    );
  return readAllowedOrigins(text);
}

/**
 * Returns whether the service may be reached as a host: by an address, as `localhost`, or as the host of an allowed origin.
 * A page in a browser can lead the name of its own host to this machine, and is then of the same origin (DNS rebinding).
 *
 * @param host the header `Host`, which browsers always send
 */
export function isAllowedHost(host: string | undefined, isAllowed: AllowedOrigins): boolean {
  if (host === undefined) return true;
  const name = host.toLowerCase().replace(/:\d*$/, '');
  const isLocal = isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 || /(^|\.)localhost$/.test(name);
  return isLocal || ['http', 'https'].some((scheme) => isAllowed(`${scheme}://${host.toLowerCase()}`));
}

/** Returns the headers that allow the origin of a request; `undefined` if it has no allowed origin. */
function originHeaders({ origin }: IncomingHttpHeaders, isAllowed: AllowedOrigins) {
  if (origin === undefined || !isAllowed(origin)) return undefined;
  return { 'Access-Control-Allow-Origin': origin, Vary: 'Origin' };
}

/** Returns the CORS headers of a response; none if the request has no allowed origin. */
export function corsHeaders(headers: IncomingHttpHeaders, isAllowed: AllowedOrigins): Record<string, string> {
  const allowed = originHeaders(headers, isAllowed);
  return allowed ? { ...allowed, 'Access-Control-Expose-Headers': cors.exposeHeaders.join(',') } : {};
}

/**
 * Returns the headers that answer a preflight request of an allowed origin, as API Gateway does itself; `undefined` for any
 * other request.
 */
export function preflightHeaders(
  method: string | undefined,
  headers: IncomingHttpHeaders,
  isAllowed: AllowedOrigins,
): Record<string, string> | undefined {
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return undefined;
  const allowed = originHeaders(headers, isAllowed);
  return (
    allowed && {
      ...allowed,
      'Access-Control-Allow-Methods': cors.methods.join(','),
      'Access-Control-Allow-Headers': cors.allowHeaders.join(','),
      'Access-Control-Max-Age': String(cors.maxAgeSeconds),
    }
  );
}
