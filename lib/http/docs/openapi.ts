import { gzipSync } from 'node:zlib';
import { openApiDocument } from '../../openapi/document.ts';
import { cacheableContent } from './cacheable-content.ts';

/** The OpenAPI document. */
export const openApiContent = cacheableContent(gzipSync(JSON.stringify(openApiDocument())));
