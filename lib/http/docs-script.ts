import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Content } from '../contract/endpoint.ts';
import { cacheableContent } from './cacheable-content.ts';

/** Scalar's renderer, which is shipped with the code; `scalar/SOURCE.md` says where it is from. */
const { body, headers } = cacheableContent(readFileSync(join(import.meta.dirname, 'scalar', 'standalone.js.gz')));

/** The script of the docs page, a megabyte. */
export const docsScriptContent: Content = {
  body,
  headers: { ...headers, 'Content-Type': 'text/javascript; charset=utf-8' },
};
