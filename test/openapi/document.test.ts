import { describe, expect, it } from 'vitest';
import { endpoints } from '../../lib/contract/endpoints.ts';
import { eventNames } from '../../lib/contract/events.ts';
import {
  at,
  bodyOf,
  codesOf,
  document,
  type Json,
  objectsIn,
  parameterOf,
  resolved,
  responseOf,
  textOf,
} from './published.ts';

const board = '/api/kanban-tasks';
const task = '/api/kanban-tasks/{id}';

describe('the document', () => {
  it('is OpenAPI 3.1', () => {
    expect(document.openapi).toBe('3.1.1');
  });

  it('has every endpoint once, with its operation id', () => {
    const operations = Object.values(document.paths as Json).flatMap((path) => Object.values(path));
    const ids = operations.map(({ operationId }) => textOf(operationId));
    expect([...ids].sort()).toEqual(Object.keys(endpoints).sort());
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each([
    ['get', board, 'listTasks', '200', 'tasks:read'],
    ['post', board, 'createTask', '201', 'tasks:write'],
    ['get', task, 'getTask', '200', 'tasks:read'],
    ['patch', task, 'updateTask', '200', 'tasks:write'],
    ['delete', task, 'deleteTask', '200', 'tasks:write'],
  ])('has %s %s as %s, with status %s and scope %s', (method, path, operationId, status, scope) => {
    const operation = at('paths', path, method);
    expect(operation.operationId).toBe(operationId);
    expect(Object.keys(operation.responses as Json).filter((code) => code < '300')).toEqual([status]);
    expect(operation.security).toEqual([{ bearer: [scope] }]);
    expect(operation.tags).toEqual(['kanban-tasks']);
  });

  it.each(['/health', '/openapi.json'])('requires no token at %s', (path) => {
    expect(at('paths', path, 'get').security).toEqual([]);
  });

  it('has no broken reference', () => {
    const references = [...objectsIn(document)].flatMap(({ $ref }) => textOf($ref) ?? []);
    expect(references.length).toBeGreaterThan(0);
    for (const reference of new Set(references)) expect(resolved(reference)).toBeDefined();
  });

  it('has each parameter of a path, required and with its pattern', () => {
    for (const [path, operations] of Object.entries(document.paths as Json))
      for (const [method, { parameters }] of Object.entries(operations)) {
        const inPath = Object.values(parameters ?? {}).filter((parameter) => textOf(parameter.in) === 'path');
        expect(inPath.map(({ name }) => `${method} {${name}}`)).toEqual(
          [...path.matchAll(/\{\w+\}/g)].map(([name]) => `${method} ${name}`),
        );
        for (const parameter of inPath)
          expect(parameter).toMatchObject({ required: true, schema: { type: 'string', pattern: /./ } });
      }
  });

  it('has no colon left in a path', () => {
    expect(Object.keys(document.paths as Json).filter((path) => path.includes(':'))).toEqual([]);
  });

  it('has the limit headers and the 429 for each operation that requires a token, and for no other', () => {
    for (const [path, operations] of Object.entries(document.paths as Json))
      for (const [method, { security, responses }] of Object.entries(operations)) {
        const success = Object.keys(responses as Json).find((status) => status < '300') as string;
        const headers = Object.keys(at('paths', path, method, 'responses', success, 'headers'));
        const limited = (security as unknown as unknown[]).length > 0;
        expect(headers.includes('RateLimit') && headers.includes('RateLimit-Policy'), `${method} ${path}`).toBe(
          limited,
        );
        expect(Object.keys(responses as Json).includes('429'), `${method} ${path}`).toBe(limited);
        if (limited)
          expect(Object.keys(at('paths', path, method, 'responses', '429', 'headers')).sort()).toEqual([
            'RateLimit',
            'RateLimit-Policy',
            'Retry-After',
            'X-Request-Id',
          ]);
      }
  });

  it('defines the bearer scheme that the operations need', () => {
    expect(at('components', 'securitySchemes', 'bearer')).toMatchObject({ type: 'http', scheme: 'bearer' });
  });
});

describe('the body of a create in the document', () => {
  const { properties, ...body } = bodyOf(board, 'post');

  it('requires a title and has exactly seven fields', () => {
    expect(body).toMatchObject({ type: 'object', required: ['title'], additionalProperties: false });
    expect(Object.keys(properties as Json)).toEqual([
      'title',
      'description',
      'status',
      'priority',
      'assignedAgent',
      'projectId',
      'dependsOn',
    ]);
  });

  it.each([
    // Text of white space only is invalid.
    ['title', { type: 'string', minLength: 1, maxLength: 500, pattern: '\\S' }],
    ['description', { type: 'string', maxLength: 10_000 }],
    ['status', { default: 'backlog' }],
    ['status', { enum: ['backlog', 'assigned', 'in_progress', 'qa_review', 'up_for_review', 'done'] }],
    ['priority', { enum: ['low', 'medium', 'high', 'critical'], default: 'medium' }],
    ['assignedAgent', { type: 'string', pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: 64 }],
    ['projectId', { type: 'string', pattern: '^proj_[A-Za-z0-9_-]{1,64}$' }],
    ['dependsOn', { type: 'array', maxItems: 25, uniqueItems: true }],
  ])('describes %s as %j', (field, expected) => {
    expect((properties as Json)[field]).toMatchObject(expected);
  });

  it('is required, and accepts an Idempotency-Key of 1 to 255 visible characters', () => {
    expect(at('paths', board, 'post', 'requestBody').required).toBe(true);
    expect(parameterOf(board, 'post', 'Idempotency-Key')).toMatchObject({
      in: 'header',
      schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
    });
  });
});

it('the url in the body of a registration has the format uri', () => {
  expect(bodyOf('/api/webhooks/register', 'post').properties).toMatchObject({
    url: { type: 'string', format: 'uri', minLength: 1, maxLength: 2048 },
  });
});

describe('the body of a patch in the document', () => {
  it('requires no field and has exactly seven fields', () => {
    const body = bodyOf(task, 'patch');
    expect(body).toMatchObject({ type: 'object', additionalProperties: false });
    expect(body.required ?? []).toEqual([]);
    expect(Object.keys(body.properties as Json)).toHaveLength(7);
  });

  it('is optional, since a missing body counts as an empty one', () => {
    expect(at('paths', task, 'patch', 'requestBody').required).toBe(false);
  });

  it.each([
    ['title', false],
    ['description', true],
    ['status', false],
    ['priority', false],
    ['assignedAgent', true],
    ['projectId', true],
    ['dependsOn', false],
  ])('describes whether %s can be null: %s', (field, nullable) => {
    const schema = JSON.stringify((bodyOf(task, 'patch').properties as Json)[field]);
    expect(schema.includes('"null"')).toBe(nullable);
  });

  it('has no defaults, since omitted fields do not change', () => {
    expect([...objectsIn(bodyOf(task, 'patch'))].filter((schema) => 'default' in schema)).toEqual([]);
  });

  it('accepts If-Match, as a delete does', () => {
    for (const method of ['patch', 'delete'])
      expect(parameterOf(task, method, 'If-Match')).toMatchObject({ in: 'header' });
    expect(parameterOf(task, 'get', 'If-Match')).toBeUndefined();
  });
});

describe('the query of a list in the document', () => {
  it.each([
    ['limit', { type: 'integer', minimum: 1, default: 20 }],
    // Numbers of more than 15 digits are not exact.
    ['offset', { type: 'integer', minimum: 0, maximum: 999_999_999_999_999, default: 0 }],
    ['status', { enum: ['backlog', 'assigned', 'in_progress', 'qa_review', 'up_for_review', 'done'] }],
    ['priority', { enum: ['low', 'medium', 'high', 'critical'] }],
    ['assigned_agent', { type: 'string' }],
    ['project_id', { type: 'string' }],
  ])('describes %s as %j', (name, schema) => {
    expect(parameterOf(board, 'get', name)).toMatchObject({ in: 'query', required: false, schema });
  });

  it('describes the maximum limit of 100', () => {
    expect(parameterOf(board, 'get', 'limit')).toMatchObject({ description: expect.stringContaining('100') });
  });
});

describe('a response in the document', () => {
  it('of a create has the five specified fields, all of them required', () => {
    const { data } = responseOf(board, 'post', '201');
    expect(data?.required).toEqual(['id', 'title', 'status', 'priority', 'createdAt']);
    expect(Object.keys(data?.properties as Json)).toEqual(['id', 'title', 'status', 'priority', 'createdAt']);
  });

  it('of a list has tasks and pagination', () => {
    const { success, data, pagination } = responseOf(board, 'get', '200');
    expect(success).toEqual({ type: 'boolean', const: true });
    expect(data).toMatchObject({ type: 'array', items: { type: 'object' } });
    expect(pagination?.required).toEqual(['limit', 'offset', 'total']);
  });

  it('of a read expands dependsOn and blockedBy to id, title and status', () => {
    const { properties } = responseOf(task, 'get', '200').data as Json;
    for (const field of ['dependsOn', 'blockedBy'])
      expect(properties?.[field]).toMatchObject({ type: 'array', items: { required: ['id', 'title', 'status'] } });
  });

  it('of a delete is success alone', () => {
    expect(responseOf(task, 'delete', '200')).toEqual({ success: { type: 'boolean', const: true } });
  });

  it('has an ETag for the read and the update of a task', () => {
    const has = (path: string, method: string, status: string) =>
      'ETag' in at('paths', path, method, 'responses', status, 'headers');
    expect(has(task, 'get', '200')).toBe(true);
    expect(has(task, 'patch', '200')).toBe(true);
    expect(has(board, 'get', '200')).toBe(false);
    expect(has(board, 'post', '201')).toBe(false);
  });
});

describe('an open endpoint in the document', () => {
  it.each([
    ['/openapi.json', 'application/json', ['200', '304']],
    ['/docs', 'text/html', ['200']],
    ['/docs/script.js', 'text/javascript', ['200', '304']],
  ])('%s returns %s, and 304 if it is cacheable', (path, media, statuses) => {
    const { responses } = at('paths', path, 'get') as { responses: Json };
    expect(Object.keys(responses).filter((status) => status < '400')).toEqual(statuses);
    expect(Object.keys(responses['200']?.content as Json)).toEqual([media]);
    expect(Object.keys(responses['200']?.headers ?? {}).includes('ETag')).toBe(statuses.includes('304'));
  });
});

describe('a test delivery in the document', () => {
  const test = '/api/webhooks/{id}/test';

  it('requires an event, any of the six, and has no other field', () => {
    const body = bodyOf(test, 'post');
    expect(body).toMatchObject({ type: 'object', required: ['event'], additionalProperties: false });
    expect(Object.keys(body.properties as Json)).toEqual(['event']);
    expect(at('paths', test, 'post', 'requestBody').required).toBe(true);
    expect(body.properties).toMatchObject({ event: { enum: eventNames } });
  });

  it('returns deliveryId, httpStatus, responseBody and durationMs, and an optional error', () => {
    const { data } = responseOf(test, 'post', '200');
    expect(data?.required).toEqual(['deliveryId', 'httpStatus', 'responseBody', 'durationMs']);
    expect(Object.keys(data?.properties as Json)).toEqual([
      'deliveryId',
      'httpStatus',
      'responseBody',
      'durationMs',
      'error',
    ]);
  });

  it('accepts an Idempotency-Key, and can lead to 409 request_in_progress', () => {
    expect(parameterOf(test, 'post', 'Idempotency-Key')).toMatchObject({ in: 'header' });
    expect(codesOf(test, 'post', '409')).toContain('request_in_progress');
    expect(codesOf(board, 'post', '409')).not.toContain('request_in_progress');
  });
});

describe('the errors in the document', () => {
  it('have the complete list of codes', () => {
    const { code } = at('components', 'schemas', 'ErrorResponse', 'properties', 'error', 'properties');
    expect(Object.values(code?.enum as Json).sort()).toEqual([
      'agent_not_active',
      'delegation_cycle',
      'delegation_too_deep',
      'dependency_cycle',
      'has_dependents',
      'idempotency_key_reused',
      'improvement_in_progress',
      'insufficient_scope',
      'internal_error',
      'invalid_json',
      'limit_reached',
      'method_not_allowed',
      'name_taken',
      'not_found',
      'payload_too_large',
      'precondition_failed',
      'rate_limited',
      'request_in_progress',
      'reserved_name',
      'self_delegation',
      'system_agent',
      'task_blocked',
      'unauthorized',
      'unavailable',
      'unknown_reference',
      'unsupported_media_type',
      'url_not_allowed',
      'validation_failed',
    ]);
  });

  it.each([
    ['get', board, ['400', '401', '403', '413', '429', '500', '503']],
    ['post', board, ['400', '401', '403', '409', '413', '415', '422', '429', '500', '503']],
    ['get', task, ['400', '401', '403', '404', '413', '429', '500', '503']],
    ['patch', task, ['400', '401', '403', '404', '409', '412', '413', '415', '422', '429', '500', '503']],
    ['delete', task, ['400', '401', '403', '404', '409', '412', '413', '429', '500', '503']],
    ['post', '/api/webhooks/{id}/test', ['400', '401', '403', '404', '409', '413', '415', '422', '429', '500', '503']],
  ])('of %s %s are %j', (method, path, statuses) => {
    const responses = at('paths', path, method, 'responses');
    expect(Object.keys(responses).filter((status) => status >= '400')).toEqual(statuses);
  });
});
