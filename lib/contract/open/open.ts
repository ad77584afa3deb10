import * as v from 'valibot';
import { type ApiReference, endpoint } from '../endpoint.ts';

export const health = endpoint({
  method: 'GET',
  path: '/health',
  summary: 'Check the health of the service',
  status: 200,
  data: v.object({ status: v.literal('ok') }),
  checksTable: true,
});

export const healthReference = (): ApiReference<typeof health> => ({
  description:
    'Confirms that the settings of the service are valid and that it can read its table. Otherwise the response is 503 `unavailable`. A result counts for 5 seconds.',
  data: { status: 'ok' },
});

export const openapi = endpoint({
  method: 'GET',
  path: '/openapi.json',
  summary: 'Get the OpenAPI document',
  status: 200,
  media: 'application/json',
  cacheable: true,
});

export const openapiReference = (): ApiReference<typeof openapi> => ({
  description: 'Returns this document (OpenAPI 3.1). It is generated from the definitions that also create the routes.',
});

export const docs = endpoint({
  method: 'GET',
  path: '/docs',
  summary: 'Get the documentation page',
  status: 200,
  media: 'text/html',
});

export const docsReference = (): ApiReference<typeof docs> => ({
  description: 'Returns an HTML page that shows this document, with search and with a form to try each operation.',
});

export const docsScript = endpoint({
  method: 'GET',
  path: '/docs/script.js',
  summary: 'Get the script of the documentation page',
  status: 200,
  media: 'text/javascript',
  cacheable: true,
  servedBy: 'docs',
  undocumented: true,
});

export const docsScriptReference = (): ApiReference<typeof docsScript> => ({
  description: 'Returns the script. Browsers cache it and revalidate it by its `ETag`.',
});
