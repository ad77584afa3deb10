import { type Endpoint, impliedErrors } from '../contract/endpoint.ts';
import { type ErrorCode, errorStatus } from '../contract/errors.ts';
import { etag } from '../contract/examples.ts';
import { CursorPagination, Pagination } from '../contract/shapes.ts';
import { errorReferences } from './error-reference.ts';
import { type Json, refersTo, schemaOf } from './schemas.ts';

const headerOf = (name: string): Json => ({ $ref: `#/components/headers/${name}` });
const requestId = { 'X-Request-Id': headerOf('RequestId') };

/** The headers about the limits of an organization. Open endpoints have none, since they have no organization. */
const limitHeaders: Json = { 'RateLimit-Policy': headerOf('RateLimitPolicy'), RateLimit: headerOf('RateLimit') };

function schemaOfSuccess(row: Endpoint): Json {
  const properties: Json = { success: { type: 'boolean', const: true } };
  if (row.data) {
    const data = schemaOf(row.data, 'output');
    properties.data = row.paged ? { type: 'array', items: data } : data;
  }
  if (row.paged) properties.pagination = schemaOf(row.paged === 'cursor' ? CursorPagination : Pagination, 'output');
  return { type: 'object', properties, required: Object.keys(properties) };
}

/** Returns the 304 response of a cacheable endpoint; an empty object for other endpoints. */
export function notModifiedOf(row: Endpoint): Json {
  if (!row.cacheable) return {};
  const headers = { ...requestId, ETag: headerOf('ETag') };
  return { 304: { description: 'Not modified: the current content has the ETag in `If-None-Match`.', headers } };
}

/** Returns the success response of an endpoint, with an example of its data. */
export function successOf(row: Endpoint, data: unknown): Json {
  const headers: Json = { ...requestId, ...(row.scope && limitHeaders) };
  if (row.cacheable || (row.versioned && row.data)) headers.ETag = headerOf('ETag');
  if (row.method === 'POST') headers['Idempotency-Replayed'] = headerOf('IdempotencyReplayed');
  if (row.media) {
    const schema = { type: row.media === 'application/json' ? 'object' : 'string' };
    return { description: row.summary, headers, content: { [row.media]: { schema } } };
  }
  const example = {
    success: true,
    ...(row.data && { data }),
    ...(row.paged && { pagination: examplePagination(row.paged, data as { id: string }[]) }),
  };
  const content = { 'application/json': { schema: schemaOfSuccess(row), example } };
  return { description: row.summary, headers, content };
}

/** Returns an example of the `pagination` of a list that has only these items. */
function examplePagination(paged: NonNullable<Endpoint['paged']>, items: readonly { id: string }[]): Json {
  return paged === 'cursor' ? { limit: 20, next: null } : { limit: 20, offset: 0, total: items.length };
}

/** Additional headers of error responses, by status. */
const errorHeaders: Record<number, Json> = {
  401: { 'WWW-Authenticate': headerOf('Authenticate') },
  429: { 'Retry-After': headerOf('RetryAfter'), ...limitHeaders },
  503: { 'Retry-After': headerOf('RetryAfter') },
};

/** Returns the error codes of an endpoint by their status. */
function codesOf(row: Endpoint): Map<number, ErrorCode[]> {
  const codes = [...new Set<ErrorCode>([...impliedErrors(row), ...(row.errors ?? [])])];
  return Map.groupBy(codes, (code) => errorStatus[code]);
}

const nameOf = (codes: readonly ErrorCode[]) => codes.join('-or-');

/** Returns references to the error responses of an endpoint: one for each status, named after its error codes. */
export function errorsOf(row: Endpoint): Json {
  const references = [...codesOf(row)].map(([status, codes]) => [
    status,
    { $ref: `#/components/responses/${nameOf(codes)}` },
  ]);
  return Object.fromEntries(references);
}

/** Returns all error responses for `components.responses`; endpoints share them. */
export function sharedErrorResponses(rows: readonly Endpoint[]): Json {
  const responses = rows.flatMap((row) =>
    [...codesOf(row)].map(([status, codes]) => [nameOf(codes), errorResponse(status, codes)]),
  );
  return Object.fromEntries(responses);
}

/**
 * Returns the schema of an error response with one of these codes. Generators of clients read the reference, so that all
 * errors have one type; the narrower codes beside it are for validators.
 */
function schemaOfError(codes: readonly ErrorCode[]): Json {
  const error = { ...refersTo('ErrorBody'), properties: { code: { enum: codes } } };
  return { ...refersTo('ErrorResponse'), properties: { error } };
}

/** The conflicts that end by themselves, and whose responses say when. */
const inProgress: readonly ErrorCode[] = ['request_in_progress', 'delivery_in_progress'];

function errorResponse(status: number, codes: readonly ErrorCode[]): Json {
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
  return {
    description: codes.map((code) => `\`${code}\`: ${errorReferences[code].when}`).join('\n\n'),
    headers: {
      ...requestId,
      ...errorHeaders[status],
      ...(codes.some((code) => inProgress.includes(code)) && { 'Retry-After': headerOf('RetryAfterInProgress') }),
    },
    content: { 'application/json': { schema: schemaOfError(codes), examples } },
  };
}

/** Returns an example of each error response for `components.examples`. */
export function errorExamples(): Json {
  return Object.fromEntries(
    Object.entries(errorReferences).map(([code, { when, message, details }]) => {
      const error = { code, message, ...(details && { details }), requestId: '4c2d5e0a-8f7b-4f5e-9a53-0b6b3c0d7e21' };
      return [code, { summary: when, value: { success: false, error } }];
    }),
  );
}

/** The headers of responses for `components.headers`. */
export const responseHeaders: Json = {
  RequestId: {
    description: 'Identifies the request in logs and error responses.',
    required: true,
    schema: { type: 'string' },
  },
  ETag: {
    description:
      'Names the version of the returned resource. Programs only compare it, and send that of a task, an agent or a webhook as If-Match.',
    required: true,
    schema: { type: 'string', examples: [etag] },
  },
  IdempotencyReplayed: {
    description: 'Present if this is the response of an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
  },
  RetryAfter: {
    description: 'The number of seconds to wait before a retry.',
    required: true,
    schema: { type: 'string', pattern: '^\\d+$', examples: ['10'] },
  },
  RateLimitPolicy: {
    description:
      'The number of requests (`q`) that the organization can send in a number of seconds (`w`). In a 429 response to the start of an execution: the number of executions that it can start; in one to a request that calls a receiver or a model: the number of such requests. Absent if there is no limit.',
    schema: {
      type: 'string',
      examples: ['"requests";q=1200;w=60', '"executions";q=120;w=60', '"calls-out";q=60;w=60'],
    },
  },
  RateLimit: {
    description:
      'The number of requests or executions that are possible now (`r`), and the number of seconds until as many are available again (`t`); with `r=0`, until one is. For requests this window is shorter than that of the policy: `r` is at most a burst, a tenth of `q`, but at least ten. For executions it is the rest of the minute. The value is an estimate, because each process of the service counts separately and reports to the others only from time to time.',
    schema: { type: 'string', examples: ['"requests";r=117;t=6', '"executions";r=0;t=23', '"calls-out";r=0;t=1'] },
  },
  RetryAfterInProgress: {
    description:
      'Present with `request_in_progress` and `delivery_in_progress`: the number of seconds to wait before a retry.',
    schema: { type: 'string', pattern: '^\\d+$', examples: ['1'] },
  },
  Authenticate: {
    description: 'The authentication scheme.',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
  },
};
