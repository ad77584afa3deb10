import { type Endpoint, impliedErrors } from '../contract/endpoint.ts';
import { type ErrorCode, errorStatus } from '../contract/errors.ts';
import { Pagination } from '../contract/shapes.ts';
import { refusals } from './error-reference.ts';
import { errorOf, type Json, schemaOf } from './schemas.ts';

const headerOf = (name: string): Json => ({ $ref: `#/components/headers/${name}` });
const requestId = { 'X-Request-Id': headerOf('RequestId') };

/** What responses say of the organization's limit; rows without a token belong to no organization. */
const limits: Json = { 'RateLimit-Policy': headerOf('RateLimitPolicy'), RateLimit: headerOf('RateLimit') };

function schemaOfSuccess(row: Endpoint): Json {
  const properties: Json = { success: { type: 'boolean', const: true } };
  if (row.data) {
    const data = schemaOf(row.data, 'output');
    properties.data = row.paged ? { type: 'array', items: data } : data;
  }
  if (row.paged) properties.pagination = schemaOf(Pagination, 'output');
  return { type: 'object', properties, required: Object.keys(properties) };
}

/** The answer of a row to who has what it answers already, where the row has one. */
export function unchangedOf(row: Endpoint): Json {
  if (!row.kept) return {};
  const headers = { ...requestId, ETag: headerOf('ETag') };
  return { 304: { description: 'It is still the one that `If-None-Match` names.', headers } };
}

/** The answer of a row that carries out what was asked, with an example of its data. */
export function successOf(row: Endpoint, data: unknown): Json {
  const headers: Json = { ...requestId, ...(row.scope && limits) };
  if (row.kept || (row.versioned && row.data)) headers.ETag = headerOf('ETag');
  if (row.method === 'POST') headers['Idempotency-Replayed'] = headerOf('IdempotencyReplayed');
  if (row.media) {
    const schema = { type: row.media === 'application/json' ? 'object' : 'string' };
    return { description: row.summary, headers, content: { [row.media]: { schema } } };
  }
  const example = {
    success: true,
    ...(row.data && { data }),
    ...(row.paged && { pagination: { limit: 20, offset: 0, total: (data as unknown[]).length } }),
  };
  const content = { 'application/json': { schema: schemaOfSuccess(row), example } };
  return { description: row.summary, headers, content };
}

/** Headers that refusals of a status carry beside the others. */
const headersOfErrors: Record<number, Json> = {
  401: { 'WWW-Authenticate': headerOf('Authenticate') },
  429: { 'Retry-After': headerOf('RetryAfter'), ...limits },
  503: { 'Retry-After': headerOf('RetryAfter') },
};

/** The codes that a row can refuse with, by their status. */
function codesOf(row: Endpoint): Map<number, ErrorCode[]> {
  const codes = [...new Set<ErrorCode>([...impliedErrors(row), ...(row.errors ?? [])])];
  return Map.groupBy(codes, (code) => errorStatus[code]);
}

const nameOf = (codes: readonly ErrorCode[]) => codes.join('-or-');

/** The refusals of a row, one answer a status, each naming the codes that it can carry. */
export function errorsOf(row: Endpoint): Json {
  const answers = [...codesOf(row)].map(([status, codes]) => [
    status,
    { $ref: `#/components/responses/${nameOf(codes)}` },
  ]);
  return Object.fromEntries(answers);
}

/** Every answer that refuses, as `components.responses` lists them: many rows share them. */
export function errorResponses(rows: readonly Endpoint[]): Json {
  const answers = rows.flatMap((row) =>
    [...codesOf(row)].map(([status, codes]) => [nameOf(codes), refused(status, codes)]),
  );
  return Object.fromEntries(answers);
}

function refused(status: number, codes: readonly ErrorCode[]): Json {
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
  return {
    description: codes.map((code) => `\`${code}\`: ${refusals[code].when}`).join('\n\n'),
    headers: {
      ...requestId,
      ...headersOfErrors[status],
      ...(codes.includes('request_in_progress') && { 'Retry-After': headerOf('RetryAfterInProgress') }),
    },
    content: { 'application/json': { schema: errorOf({ type: 'string', enum: codes }), examples } },
  };
}

/** An example of each refusal, as `components.examples` lists them. */
export function errorExamples(): Json {
  return Object.fromEntries(
    Object.entries(refusals).map(([code, { when, message, details }]) => {
      const error = { code, message, ...(details && { details }), requestId: '4c2d5e0a-8f7b-4f5e-9a53-0b6b3c0d7e21' };
      return [code, { summary: when, value: { success: false, error } }];
    }),
  );
}

/** The headers of answers, as `components.headers` lists them. */
export const answerHeaders: Json = {
  RequestId: {
    description: 'Names this request in logs and error bodies.',
    required: true,
    schema: { type: 'string' },
  },
  ETag: {
    description: 'The version of what is answered; that of a task or an agent can be sent back as If-Match.',
    required: true,
    schema: { type: 'string', examples: ['"2"'] },
  },
  IdempotencyReplayed: {
    description: 'There where the answer is that of an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
  },
  RetryAfter: {
    description: 'After how many seconds to try again.',
    required: true,
    schema: { type: 'string', pattern: '^\\d+$', examples: ['10'] },
  },
  RateLimitPolicy: {
    description:
      'The number of requests (`q`) that the organization may make within a number of seconds (`w`); with a 429 to a start, the number of executions that it may start. Absent if there is no limit.',
    schema: { type: 'string', examples: ['"requests";q=1200;w=60', '"executions";q=120;w=60'] },
  },
  RateLimit: {
    description:
      'How many more are let through at once (`r`), and after how many seconds there are more (`t`). An estimate: each process of the service counts by itself and reports to the others now and then.',
    schema: { type: 'string', examples: ['"requests";r=117;t=6', '"executions";r=0;t=23'] },
  },
  RetryAfterInProgress: {
    description: 'With `request_in_progress`: after how many seconds to ask again.',
    schema: { type: 'string', pattern: '^\\d+$', examples: ['1'] },
  },
  Authenticate: {
    description: 'That a bearer token is needed.',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
  },
};
