import * as v from 'valibot';
import { type ApiReference, endpoint } from './endpoint.ts';

export const health = endpoint({
  method: 'GET',
  path: '/health',
  summary: 'Say that the service answers',
  status: 200,
  data: v.object({ status: v.literal('ok') }),
});

export const healthReference = (): ApiReference<typeof health> => ({
  description: 'Asks nothing of what the service depends on.',
  data: { status: 'ok' },
});

export const openapi = endpoint({
  method: 'GET',
  path: '/openapi.json',
  summary: 'This document',
  status: 200,
  media: 'application/json',
  kept: true,
});

export const openapiReference = (): ApiReference<typeof openapi> => ({
  description: 'OpenAPI 3.1, made from the same rows as the routes.',
});

export const docs = endpoint({
  method: 'GET',
  path: '/docs',
  summary: 'The page on which to read, search and try all of this',
  status: 200,
  media: 'text/html',
});

export const docsReference = (): ApiReference<typeof docs> => ({
  description: 'This document as a page that is searched, and on which each operation can be tried.',
});

export const docsScript = endpoint({
  method: 'GET',
  path: '/docs/script.js',
  summary: 'The script of that page',
  status: 200,
  media: 'text/javascript',
  kept: true,
});

export const docsScriptReference = (): ApiReference<typeof docsScript> => ({
  description: 'Kept by browsers, and asked for by its `ETag`.',
});
