/** The request headers of the Model Context Protocol. */
const mcpHeaders = ['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name'] as const;

/** The CORS settings of the API for web pages of allowed origins. Requests have a token, never a cookie. */
export const cors = {
  methods: ['GET', 'POST', 'PATCH', 'DELETE'],
  /** The request headers that pages may send. */
  allowHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', ...mcpHeaders],
  /** The response headers that pages may read. */
  exposeHeaders: ['ETag', 'Idempotency-Replayed', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id'],
  /** How long a browser may cache the answer to a preflight request. */
  maxAgeSeconds: 3600,
} as const;

/** Returns whether web pages of an origin may call the API. */
export type AllowedOrigins = (origin: string) => boolean;

/**
 * Returns whether a text of a list of origins can match the origin of a web page: `*`, `https://*`, an origin as browsers send
 * it, or an origin with `*` as its port. Browsers send neither a path nor capital letters nor the port of the scheme.
 */
export function isOriginPattern(text: string): boolean {
  if (/^(\*|https?:\/\/\*)$/.test(text)) return true;
  const origin = text.replace(/:\*$/, '');
  return /^https?:/.test(text) && !/[\s,*]/.test(origin) && URL.parse(origin)?.origin === origin;
}

/**
 * Reads a list of origins, separated by commas, such as `http://localhost:*`, with `*` for any port. `*` alone stands for
 * every origin, and `https://*`, which API Gateway knows too, for every origin of the scheme.
 */
export function readAllowedOrigins(text: string): AllowedOrigins {
  const allowed = originsIn(text);
  return (origin) => {
    const anyPort = `${origin.replace(/:\d+$/, '')}:*`;
    const ofScheme = `${origin.split('://')[0]}://*`;
    return allowed.some((one) => ['*', origin, anyPort, ofScheme].includes(one));
  };
}

/** Returns the origins of a list that is separated by commas. */
export function originsIn(text: string): string[] {
  return text
    .split(',')
    .map((origin) => origin.trim())
    .filter((origin) => origin !== '');
}
