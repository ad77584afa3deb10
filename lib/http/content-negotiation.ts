import { gunzipSync } from 'node:zlib';
import { type ApiEvent, type ApiResult, header } from './api-event.ts';

/** An answer that has its headers, and waits for its body. */
type Head = { statusCode: number; headers: Record<string, string> };

/**
 * Completes an answer by its content as the caller can use it (RFC 9110): nothing where it names the `ETag` that it has
 * already, else a text as it is, and a file that is kept gzipped either so or, for who takes no gzip, as it was before.
 */
export function negotiateContent(
  event: ApiEvent,
  { statusCode, headers }: Head,
  content: string | Uint8Array,
): ApiResult {
  const varied = typeof content === 'string' ? headers : { ...headers, Vary: 'Accept-Encoding' };
  if (hasAlready(event, headers.ETag)) return { statusCode: 304, headers: varied };
  if (typeof content === 'string') return { statusCode, headers: varied, body: content };
  if (!acceptsGzip(event)) return { statusCode, headers: varied, body: gunzipSync(content).toString('utf8') };
  return {
    statusCode,
    headers: { ...varied, 'Content-Encoding': 'gzip' },
    // API Gateway takes bytes in no other form.
    body: Buffer.from(content).toString('base64'),
    isBase64Encoded: true,
  };
}

/** The entries of a header that is a list, such as `gzip;q=0.5, br`, without white space. */
function listed(event: ApiEvent, name: string): string[] {
  return (header(event, name) ?? '').split(',').map((entry) => entry.replaceAll(/\s/g, ''));
}

/** Tags are compared weakly, as this header asks: `W/"a"` is `"a"`. */
function hasAlready(event: ApiEvent, etag: string | undefined): boolean {
  if (etag === undefined) return false;
  const opaque = (tag: string) => tag.replace(/^W\//, '');
  return listed(event, 'If-None-Match').some((tag) => tag === '*' || opaque(tag) === opaque(etag));
}

/** Whether the caller accepts a gzipped response. */
export function acceptsGzip(event: ApiEvent): boolean {
  const entries = listed(event, 'Accept-Encoding').map((entry) => entry.toLowerCase());
  const of = (coding: string) => entries.find((entry) => entry.split(';')[0] === coding);
  const entry = of('gzip') ?? of('x-gzip') ?? of('*');
  return entry !== undefined && !/;q=0(\.0*)?$/.test(entry);
}
