import { describe, expect, it } from 'vitest';
import { at, codesOf, type Json, parameterOf, responseOf, textOf } from './published.ts';

const path = '/api/agents/{name}/metrics';
const fieldsOf = (data: Json | undefined) => [Object.keys(data?.properties as Json), data?.required];

describe('the metrics of an agent in the document', () => {
  const operation = at('paths', path, 'get');

  it('are getMetrics of the agents, with scope agents:read', () => {
    expect(operation.operationId).toBe('getMetrics');
    expect(operation.tags).toEqual(['agents']);
    expect(operation.security).toEqual([{ bearer: ['agents:read'] }]);
    expect(operation).not.toHaveProperty('requestBody');
  });

  it('have the statuses of a read', () => {
    expect(Object.keys(operation.responses as Json)).toEqual(
      expect.arrayContaining(['200', '400', '401', '403', '404', '429', '500', '503']),
    );
    expect(codesOf(path, 'get', '404')).toEqual(['not_found']);
    for (const status of ['409', '412', '415', '422']) expect(operation.responses).not.toHaveProperty(status);
    expect(Object.keys(at('paths', path, 'get', 'responses', '200', 'headers'))).toEqual([
      ...['X-Request-Id', 'RateLimit-Policy', 'RateLimit'],
    ]);
  });

  it('accept a name and a period, and no other parameter', () => {
    const names = Object.values(at('paths', path, 'get', 'parameters')).map(({ name }) => textOf(name));
    expect(names.filter((name) => name !== undefined)).toEqual(['name', 'period']);
    expect(parameterOf(path, 'get', 'name')).toMatchObject({ in: 'path', required: true });
    expect(parameterOf(path, 'get', 'period')).toMatchObject({
      in: 'query',
      required: false,
      schema: { enum: ['7d', '30d', '90d'], default: '30d' },
    });
  });

  it('have the specified fields, all of them required', () => {
    const { data, pagination } = responseOf(path, 'get', '200');
    expect(pagination).toBeUndefined();
    const all = ['agentName', 'period', 'executions', 'performance', 'tokens'];
    expect(fieldsOf(data)).toEqual([all, all]);
    const parts = data?.properties as Json;
    expect(parts.period).toMatchObject({ enum: ['7d', '30d', '90d'] });
    for (const [part, fields] of [
      ['executions', ['total', 'completed', 'failed', 'running', 'successRate']],
      ['performance', ['avgDurationMs', 'p50DurationMs', 'p95DurationMs']],
      ['tokens', ['total', 'avgPerExecution']],
    ] as const) {
      expect(fieldsOf(parts[part])).toEqual([fields, fields]);
      for (const [field, { type }] of Object.entries(parts[part]?.properties as Json))
        expect([field, type]).toEqual([field, field === 'successRate' ? 'number' : 'integer']);
    }
  });
});

it.each([
  ['/api/agents/{name}/delegate', 'delegateTask'],
  ['/api/agents/{name}/self-improve', 'selfImproveAgent'],
])('%s is %s in the document, a POST that accepts an Idempotency-Key', (path, operationId) => {
  const operation = at('paths', path, 'post');
  expect(operation).toMatchObject({ operationId, tags: ['agents'], security: [{ bearer: ['agents:execute'] }] });
  expect(parameterOf(path, 'post', 'Idempotency-Key')).toMatchObject({ in: 'header' });
});
