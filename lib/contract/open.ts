import * as v from 'valibot';
import { endpoint } from './endpoint.ts';

export const health = endpoint({
  method: 'GET',
  path: '/health',
  summary: 'Say that the service answers',
  status: 200,
  data: v.object({ status: v.literal('ok') }),
});

export const openapi = endpoint({
  method: 'GET',
  path: '/openapi.json',
  summary: 'This document',
  status: 200,
  media: 'application/json',
  kept: true,
});

export const docs = endpoint({
  method: 'GET',
  path: '/docs',
  summary: 'The page on which to read, search and try all of this',
  status: 200,
  media: 'text/html',
});

export const docsScript = endpoint({
  method: 'GET',
  path: '/docs/script.js',
  summary: 'The script of that page',
  status: 200,
  media: 'text/javascript',
  kept: true,
});
