import type { MiddlewareObj } from '@middy/core';
import type { Endpoint } from '../../contract/endpoint.ts';
import { ApiError, type ErrorDetail, notFound, type Resource } from '../../contract/errors.ts';
import {
  checkBody,
  checkQuery,
  lostNumberErrors,
  queryEntries,
  validationFailed,
} from '../../contract/requests/check.ts';
import { validate } from '../../contract/requests/validate.ts';
import { shortened } from '../../contract/texts/code-points.ts';
import { type ApiEvent, type ApiResult, header } from '../api-event.ts';
import { preconditionOf } from '../preconditions.ts';

/** The maximum size of a body, in bytes. */
const bodyLimit = 256 * 1024;

const idempotencyKey = /^[\x21-\x7e]{1,255}$/;

/**
 * Returns the middleware that parses and validates a request. It responds with the first error of this order
 * (docs/architecture.md#order-of-checks): 413, 415, 400 `invalid_json`, 404 for a malformed path parameter, then one 400
 * with all errors of query, body and headers.
 *
 * API Gateway has already decoded the path. The parsers of middy are not used: they decode it again, and respond to
 * malformed JSON with 415.
 */
export function parse(row: Endpoint): MiddlewareObj<ApiEvent, ApiResult> {
  return {
    before: ({ event }) => {
      const rawBody = readBody(event);
      if (rawBody.length > bodyLimit)
        throw new ApiError('payload_too_large', `The body has ${rawBody.length} bytes; send at most ${bodyLimit}.`);
      if (row.body && rawBody.length > 0) rejectCompressed(event);
      const { text, json } = row.body ? parseJson(event, rawBody) : { text: '', json: undefined };
      const params = parseParams(row, event);
      const query = parseQuery(row, event.rawQueryString);
      const body = row.body ? checkBody(row, json) : { output: undefined, errors: [] };
      const errors = [
        ...query.errors,
        ...body.errors,
        ...lostNumberErrors(row, text),
        ...idempotencyKeyErrors(row, event),
      ];
      if (errors.length > 0) throw validationFailed(errors);
      const ifMatch = preconditionOf(row.versioned ? header(event, 'If-Match') : undefined);
      event.state = { ...event.state, params, query: query.output, body: body.output, ifMatch };
    },
  };
}

function readBody({ body = '', isBase64Encoded }: ApiEvent): Buffer {
  return Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
}

/** @throws `ApiError` `unsupported_media_type` for a body with a content coding */
export function rejectCompressed(event: ApiEvent): void {
  const sent = header(event, 'Content-Encoding') ?? '';
  if (/^(\s|,|identity)*$/i.test(sent)) return;
  throw new ApiError(
    'unsupported_media_type',
    `The body is compressed with ${shortened(sent, 64)}; send it uncompressed, without Content-Encoding.`,
  );
}

/** Returns the body as text and parsed; `{}` for a request without a body. */
function parseJson(event: ApiEvent, rawBody: Buffer): { text: string; json: unknown } {
  if (rawBody.length === 0) return { text: '', json: {} };
  const [type = ''] = (header(event, 'Content-Type') ?? '').split(';');
  if (!/^application\/([^/\s]+\+)?json$/i.test(type.trim()))
    throw new ApiError(
      'unsupported_media_type',
      'The Content-Type of the body is not JSON; send JSON with Content-Type: application/json.',
    );
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(rawBody);
    return { text, json: JSON.parse(text) };
  } catch {
    throw new ApiError('invalid_json', 'The body is not well-formed JSON in UTF-8; check its syntax and its encoding.');
  }
}

/** The resources by the segment of a path before their id or name. */
const resources: Record<string, Resource> = {
  'kanban-tasks': 'task',
  agents: 'agent',
  executions: 'execution',
  prompts: 'prompt',
  skills: 'skill',
  webhooks: 'webhook',
  deliveries: 'delivery',
  events: 'event',
  recoveries: 'recovery',
};

/** Returns the resource that a parameter of a path names. */
function resourceOf(path: string, parameter: string): Resource {
  const segments = path.split('/');
  return resources[segments[segments.indexOf(`:${parameter}`) - 1] as string] as Resource;
}

function parseParams(row: Endpoint, event: ApiEvent): Record<string, unknown> {
  const schemas = Object.entries(row.params ?? {});
  return Object.fromEntries(
    schemas.map(([name, schema]) => {
      const { output, errors } = validate(schema, event.pathParameters?.[name]);
      if (errors.length > 0) throw notFound(resourceOf(row.path, name));
      return [name, output];
    }),
  );
}

function parseQuery(row: Endpoint, raw: string) {
  const known = queryEntries(row);
  const parameters = new URLSearchParams(raw);
  const errors: ErrorDetail[] = [];
  // Without a prototype, `__proto__` is a name like any other.
  const input: Record<string, string> = Object.create(null);
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name);
    const [value] = values as [string];
    const isKnown = Object.hasOwn(known, name);
    if (isKnown && values.length > 1)
      errors.push({ path: name, code: 'invalid_value', message: `${name} occurs more than once; send it once` });
    else if (isKnown && value === '')
      errors.push({ path: name, code: 'invalid_value', message: `${name} is empty; leave it out` });
    else input[name] = value;
  }
  const checked = checkQuery(row, input);
  return { output: checked.output, errors: [...errors, ...checked.errors] };
}

function idempotencyKeyErrors(row: Endpoint, event: ApiEvent): ErrorDetail[] {
  const key = row.method === 'POST' ? header(event, 'Idempotency-Key') : undefined;
  if (key === undefined || idempotencyKey.test(key)) return [];
  const message = 'Idempotency-Key must be 1 to 255 visible ASCII characters';
  return [{ path: 'Idempotency-Key', code: 'invalid_value', message }];
}
