/** The CORS settings of the API for web pages of allowed origins. Requests have a token, never a cookie. */
export const cors = {
  methods: ['GET', 'POST', 'PATCH', 'DELETE'],
  /** The request headers that pages may send. */
  allowHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match'],
  /** The response headers that pages may read. */
  exposeHeaders: ['ETag', 'Idempotency-Replayed', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id'],
  /** How long a browser may cache the answer to a preflight request. */
  maxAgeSeconds: 3600,
} as const;
