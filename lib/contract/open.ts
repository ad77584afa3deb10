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
});
