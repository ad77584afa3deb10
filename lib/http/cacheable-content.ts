import { createHash } from 'node:crypto';
import type { Content } from '../contract/endpoint.ts';

/** What callers keep: they ask each time by its `ETag` whether it is still the one (a row that is `kept`). */
export function cacheableContent(gzipped: Uint8Array): Content {
  return {
    body: gzipped,
    headers: {
      'Cache-Control': 'no-cache',
      // Weak, as it names the content however it is encoded.
      ETag: `W/"${createHash('sha256').update(gzipped).digest('base64url')}"`,
    },
  };
}
