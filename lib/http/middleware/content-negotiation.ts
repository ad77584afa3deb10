import { isUtf8 } from 'node:buffer';
import { gunzipSync } from 'node:zlib';
import { type ApiEvent, type ApiResult, header } from '../api-event.ts';

/** A response without its body. */
type Head = { statusCode: number; headers: Record<string, string> };

/**
 * Returns the response with its content, by the headers of the request (RFC 9110): 304 without a body if
 * `If-None-Match` has the current `ETag`, else the content. Bytes are gzipped content; they are unzipped if the caller
 * does not accept gzip.
 */
export function negotiateContent(
  event: ApiEvent,
  { statusCode, headers }: Head,
  content: string | Uint8Array,
): ApiResult {
  const varied = typeof content === 'string' ? headers : { ...headers, Vary: 'Accept-Encoding' };
  if (matchesIfNoneMatch(event, headers.ETag)) return { statusCode: 304, headers: varied };
  if (typeof content === 'string') return { statusCode, headers: varied, body: content };
  if (acceptsGzip(event)) return binary({ statusCode, headers: { ...varied, 'Content-Encoding': 'gzip' } }, content);
  const unzipped = gunzipSync(content);
  if (!isUtf8(unzipped)) return binary({ statusCode, headers: varied }, unzipped);
  return { statusCode, headers: varied, body: unzipped.toString('utf8') };
}

/** Returns the response with bytes. API Gateway accepts them only in base64. */
function binary(head: Head, bytes: Uint8Array): ApiResult {
  return { ...head, body: Buffer.from(bytes).toString('base64'), isBase64Encoded: true };
}

/** Returns the entries of a list header such as `gzip;q=0.5, br`, without white space. */
function listed(event: ApiEvent, name: string): string[] {
  return (header(event, name) ?? '').split(',').map((entry) => entry.replaceAll(/\s/g, ''));
}

/** Returns whether `If-None-Match` has the ETag. The comparison is weak: `W/"a"` equals `"a"`. */
function matchesIfNoneMatch(event: ApiEvent, etag: string | undefined): boolean {
  if (etag === undefined) return false;
  const opaque = (tag: string) => tag.replace(/^W\//, '');
  return listed(event, 'If-None-Match').some((tag) => tag === '*' || opaque(tag) === opaque(etag));
}

/** Returns whether the caller accepts a gzipped response. */
export function acceptsGzip(event: ApiEvent): boolean {
  return accepts(event, 'Accept-Encoding', ['gzip', 'x-gzip', '*']);
}

/** Returns whether the caller accepts JSON. Without `Accept`, every type is accepted; some clients write `*` for it. */
export function acceptsJson(event: ApiEvent): boolean {
  const isAbsent = (header(event, 'Accept') ?? '').trim() === '';
  return isAbsent || accepts(event, 'Accept', ['application/json', 'application/*', '*/*', '*']);
}

/** Returns whether a list header accepts the first of these values that it has. */
function accepts(event: ApiEvent, name: string, values: readonly string[]): boolean {
  const entries = listed(event, name).map((entry) => entry.toLowerCase());
  const [entry] = values.flatMap((value) => entries.find((one) => one.split(';')[0] === value) ?? []);
  return entry !== undefined && !/;q=0(\.0*)?(;|$)/.test(entry);
}
