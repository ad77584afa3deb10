import type { ApiEvent, ApiResult } from './api-event.ts';

/** Returns the response to a request: for `HEAD`, that to `GET` without the body, but with its length. */
export function answerHead(event: ApiEvent, response: ApiResult): ApiResult {
  if (event.requestContext.http.method !== 'HEAD' || response.body === undefined) return response;
  const { body, isBase64Encoded, ...rest } = response;
  const length = Buffer.byteLength(body, isBase64Encoded ? 'base64' : 'utf8');
  return { ...rest, headers: { ...rest.headers, 'Content-Length': String(length) }, body: '' };
}
