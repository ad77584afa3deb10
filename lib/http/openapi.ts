import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { openApiDocument } from '../contract/document.ts';
import type { Content } from '../contract/endpoint.ts';

const document = JSON.stringify(openApiDocument());

/** The OpenAPI document. Who keeps it asks each time by its `ETag` whether it is still the one. */
export const openApiContent: Content = {
  body: gzipSync(document),
  headers: {
    'Cache-Control': 'no-cache',
    // Weak, as it names the document however it is encoded.
    ETag: `W/"${createHash('sha256').update(document).digest('base64url')}"`,
  },
};
