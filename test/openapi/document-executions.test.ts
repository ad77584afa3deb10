import { describe, expect, it } from 'vitest';
import { at, bodyOf, codesOf, type Json, parameterOf, responseOf, textOf } from './published.ts';

const execute = '/api/agents/{name}/execute';
const all = '/api/agents/executions';
const own = '/api/agents/{name}/executions';
const one = '/api/agents/{name}/executions/{id}';

const stringOf = (text: Json | undefined) => textOf(text) ?? '';

describe('the executions in the document', () => {
  it.each([
    ['post', execute, 'executeAgent', 'agents:execute'],
    ['get', all, 'listExecutions', 'agents:read'],
    ['get', own, 'listAgentExecutions', 'agents:read'],
    ['get', one, 'getExecution', 'agents:read'],
  ])('have %s %s as %s, with status 200 and scope %s', (method, path, operationId, scope) => {
    const operation = at('paths', path, method);
    expect(operation.operationId).toBe(operationId);
    expect(Object.keys(operation.responses as Json).filter((code) => code < '300')).toEqual(['200']);
    expect(operation.security).toEqual([{ bearer: [scope] }]);
    expect(operation.tags).toEqual(['agents']);
  });

  it.each([
    ['post', execute, ['400', '401', '403', '404', '409', '413', '415', '422', '429', '500', '503']],
    ['get', all, ['400', '401', '403', '413', '429', '500', '503']],
    ['get', own, ['400', '401', '403', '404', '413', '429', '500', '503']],
    ['get', one, ['400', '401', '403', '404', '413', '429', '500', '503']],
  ])('have for %s %s the error statuses %j', (method, path, statuses) => {
    const responses = at('paths', path, method, 'responses');
    expect(Object.keys(responses).filter((status) => status >= '400')).toEqual(statuses);
  });

  it.each([
    ['404', 'not_found'],
    ['409', 'agent_not_active, task_blocked'],
    ['422', 'idempotency_key_reused, unknown_reference'],
    ['429', 'rate_limited'],
  ])('have for the status %s of a start the codes %s', (status, codes) => {
    expect(codesOf(execute, 'post', status).sort().join(', ')).toBe(codes);
  });
});

describe('the body of a start in the document', () => {
  const { properties, ...body } = bodyOf(execute, 'post');

  it('requires an input and has exactly three fields', () => {
    expect(body).toMatchObject({ type: 'object', required: ['input'], additionalProperties: false });
    expect(Object.keys(properties as Json)).toEqual(['input', 'taskId', 'context']);
    expect(at('paths', execute, 'post', 'requestBody').required).toBe(true);
  });

  it('describes the length of the input and the pattern of the taskId', () => {
    expect(properties?.input).toMatchObject({ type: 'string', minLength: 1, maxLength: 100_000 });
    expect(properties?.taskId).toMatchObject({ type: 'string', pattern: '^tk_[0-7][0-9A-HJKMNP-TV-Z]{25}$' });
  });

  it('has a context that is an object with any keys, and describes its maximum size', () => {
    const { type, description, ...more } = (properties as Json).context as Json;
    expect(type).toBe('object');
    expect(stringOf(description)).toMatch(/^Key-values .* 65,536 bytes .* 32 levels deep.$/);
    expect(more).toEqual({});
  });

  it('accepts an Idempotency-Key, and no If-Match', () => {
    expect(parameterOf(execute, 'post', 'Idempotency-Key')).toMatchObject({ in: 'header' });
    expect(parameterOf(execute, 'post', 'If-Match')).toBeUndefined();
  });
});

describe.each([all, own])('the query of %s in the document', (path) => {
  it.each([
    ['status', { enum: ['running', 'completed', 'failed'] }],
    ['agentName', { type: 'string', maxLength: 64 }],
    ['limit', { type: 'integer', minimum: 1, default: 20 }],
    ['offset', { type: 'integer', minimum: 0, default: 0 }],
  ])('describes %s as %j', (name, schema) => {
    expect(parameterOf(path, 'get', name)).toMatchObject({ in: 'query', required: false, schema });
  });

  it('has no other parameters', () => {
    const names = Object.values(at('paths', path, 'get', 'parameters')).filter(
      ({ in: where }) => stringOf(where) === 'query',
    );
    expect(names.map(({ name }) => name)).toEqual(['status', 'agentName', 'limit', 'offset']);
  });
});

describe('a response in the document', () => {
  const fieldsOf = (data: Json | undefined) => [Object.keys(data?.properties as Json), data?.required];
  const started = ['executionId', 'agentName', 'status', 'startedAt'];

  it('of a start has the four specified fields, all of them required', () => {
    expect(fieldsOf(responseOf(execute, 'post', '200').data)).toEqual([started, started]);
  });

  it.each([all, own])('of %s has the seven specified fields and pagination', (path) => {
    const { data, pagination } = responseOf(path, 'get', '200');
    expect(data?.type).toBe('array');
    expect(fieldsOf(data?.items)).toEqual([
      ['id', 'agentName', 'taskId', 'status', 'startedAt', 'completedAt', 'durationMs'],
      ['id', 'agentName', 'status', 'startedAt'],
    ]);
    expect(pagination?.required).toEqual(['limit', 'offset', 'total']);
  });

  it('of a read has the fields of the list and those of the detail', () => {
    expect(fieldsOf(responseOf(one, 'get', '200').data)).toEqual([
      [
        ...['id', 'agentName', 'taskId', 'status', 'startedAt', 'completedAt', 'durationMs'],
        ...['input', 'output', 'tokensUsed', 'model', 'qualityGates', 'error', 'delegationId'],
      ],
      ['id', 'agentName', 'status', 'startedAt', 'input', 'model', 'qualityGates'],
    ]);
  });

  it('of a read has the results of a quality gate', () => {
    const gates = responseOf(one, 'get', '200').data?.properties?.qualityGates as Json;
    expect(gates.required).toEqual(['selfTest', 'qaReview']);
    for (const gate of Object.values(gates.properties as Json))
      expect(gate).toMatchObject({ enum: ['pending', 'passed', 'failed', 'skipped'] });
  });

  it.each([
    [execute, 'post', ['X-Request-Id', 'RateLimit-Policy', 'RateLimit', 'Idempotency-Replayed']],
    [one, 'get', ['X-Request-Id', 'RateLimit-Policy', 'RateLimit']],
  ])('of %s has no ETag, since no request changes an execution', (path, method, headers) => {
    expect(Object.keys(at('paths', path, method, 'responses', '200', 'headers'))).toEqual(headers);
  });
});
