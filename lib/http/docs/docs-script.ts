import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Content } from '../../contract/endpoint.ts';
import { cacheableContent } from './cacheable-content.ts';

/** The renderer of Scalar, a part of this repository; `scalar/SOURCE.md` names its source. */
const { body, headers } = cacheableContent(readFileSync(join(import.meta.dirname, 'scalar', 'standalone.js.gz')));

/** The script of the documentation page, about 1 MB. */
export const docsScriptContent: Content = {
  body,
  headers: { ...headers, 'Content-Type': 'text/javascript; charset=utf-8' },
};
