import { gzipSync } from 'node:zlib';
import { openApiDocument } from '../openapi/document.ts';
import { keptContent } from './kept.ts';

/** The OpenAPI document. */
export const openApiContent = keptContent(gzipSync(JSON.stringify(openApiDocument())));
