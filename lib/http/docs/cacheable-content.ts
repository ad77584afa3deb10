import { createHash } from 'node:crypto';
import type { Content } from '../../contract/endpoint.ts';

/** Returns the content of a `cacheable` endpoint. Callers revalidate it by its `ETag` before each use. */
export function cacheableContent(gzipped: Uint8Array): Content {
  return {
    body: gzipped,
    headers: {
      'Cache-Control': 'no-cache',
      // A weak ETag, because the same one is used for the gzipped and the plain content.
      ETag: `W/"${createHash('sha256').update(gzipped).digest('base64url')}"`,
    },
  };
}
