import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Content } from '../contract/endpoint.ts';

/** Scalar's renderer, which is shipped with the code; `scalar/SOURCE.md` says where it is from. */
const gzipped = readFileSync(join(import.meta.dirname, 'scalar', 'standalone.js.gz'));

/** Weak, as it names the script however it is encoded. */
const etag = `W/"${createHash('sha256').update(gzipped).digest('base64url')}"`;

/** The script of the docs page. A browser keeps its megabyte, and asks each time whether it is still the one. */
export const docsScriptContent: Content = {
  body: gzipped,
  headers: { 'Content-Type': 'text/javascript; charset=utf-8', 'Cache-Control': 'no-cache', ETag: etag },
};
