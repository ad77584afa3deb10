import { describe, expect, it } from 'vitest';
import { pathParameters, scopes } from '../../lib/contract/endpoint.ts';
import { endpoints } from '../../lib/contract/endpoints.ts';
import { errorStatus } from '../../lib/contract/errors.ts';
import { familyOf, fileNameOf, matchPath, routes } from '../../lib/contract/routes.ts';

const operationsAt = (path: string) => matchPath(path).map(({ operation }) => operation);

describe('the endpoints', () => {
  it.each([
    ['listTasks', 'GET', '/api/kanban-tasks', 200],
    ['createTask', 'POST', '/api/kanban-tasks', 201],
    ['getTask', 'GET', '/api/kanban-tasks/:id', 200],
    ['updateTask', 'PATCH', '/api/kanban-tasks/:id', 200],
    ['deleteTask', 'DELETE', '/api/kanban-tasks/:id', 200],
    ['executeAgent', 'POST', '/api/agents/:name/execute', 200],
    ['delegateTask', 'POST', '/api/agents/:name/delegate', 200],
    ['listExecutions', 'GET', '/api/agents/executions', 200],
    ['listAgentExecutions', 'GET', '/api/agents/:name/executions', 200],
    ['getExecution', 'GET', '/api/agents/:name/executions/:id', 200],
    ['getMetrics', 'GET', '/api/agents/:name/metrics', 200],
    ['selfImproveAgent', 'POST', '/api/agents/:name/self-improve', 200],
    ['registerWebhook', 'POST', '/api/webhooks/register', 201],
    ['listWebhooks', 'GET', '/api/webhooks', 200],
    ['getWebhook', 'GET', '/api/webhooks/:id', 200],
    ['deleteWebhook', 'DELETE', '/api/webhooks/:id', 200],
    ['testWebhook', 'POST', '/api/webhooks/:id/test', 200],
    ['listDeliveries', 'GET', '/api/webhooks/:id/deliveries', 200],
    ['health', 'GET', '/health', 200],
    ['openapi', 'GET', '/openapi.json', 200],
    ['docs', 'GET', '/docs', 200],
    ['docsScript', 'GET', '/docs/script.js', 200],
  ] as const)('have %s as %s %s, with status %i', (operation, method, path, status) => {
    expect(endpoints[operation]).toMatchObject({ method, path, status });
  });

  it('have each method of a path only once', () => {
    const taken = routes.map(([, row]) => `${row.method} ${row.path}`);
    expect(new Set(taken).size).toBe(taken.length);
  });

  it('have a schema for each parameter of their paths, and no other schema', () => {
    for (const [, row] of routes) expect(Object.keys(row.params ?? {})).toEqual(pathParameters(row.path));
  });

  it('require a read scope for GET, and another scope for other methods', () => {
    for (const [, { method, path, scope }] of routes) {
      if (!path.startsWith('/api/')) {
        expect(scope).toBeUndefined();
        continue;
      }
      expect(scopes).toContain(scope);
      expect(scope?.endsWith(':read')).toBe(method === 'GET');
    }
  });
});

describe('a path', () => {
  it('matches the endpoints of all its methods', () => {
    expect(operationsAt('/api/kanban-tasks').sort()).toEqual(['createTask', 'listTasks']);
    expect(operationsAt('/api/kanban-tasks/x').sort()).toEqual(['deleteTask', 'getTask', 'updateTask']);
  });

  it('matches an endpoint with a static segment before one with a parameter', () => {
    expect(operationsAt('/api/agents/executions')[0]).toBe('listExecutions');
    expect(operationsAt('/api/agents/writer/executions')).toEqual(['listAgentExecutions']);
    expect(operationsAt('/api/agents/executions/executions')).toEqual(['listAgentExecutions']);
    expect(operationsAt('/api/agents/writer/executions/execute')).toEqual(['getExecution']);
    expect(operationsAt('/api/agents/writer/execute')).toEqual(['executeAgent']);
    expect(operationsAt('/api/agents/executions/metrics')).toEqual(['getMetrics']);
  });

  it('has its parameters unchanged, not decoded again', () => {
    expect(matchPath('/api/kanban-tasks/%2e%2e')[0]?.params).toEqual({ id: '%2e%2e' });
    expect(matchPath('/api/kanban-tasks/__proto__')[0]?.params).toEqual({ id: '__proto__' });
  });

  it.each([
    '',
    '/',
    '/api',
    '/api/kanban-tasks/',
    '/api//kanban-tasks',
    '/api/kanban-tasks/x/',
    '/api/kanban-tasks/x/y',
    'api/kanban-tasks',
    '/API/KANBAN-TASKS',
    '/health/',
    '/__proto__',
    '/constructor',
  ])('%j matches no endpoint', (path) => {
    expect(matchPath(path)).toEqual([]);
  });
});

describe('the name', () => {
  it.each([
    ['createTask', 'create-task'],
    ['listAgentExecutions', 'list-agent-executions'],
    ['health', 'health'],
  ])('of the file of %s is %s', (name, file) => {
    expect(fileNameOf(name)).toBe(file);
  });

  it.each([
    ['/api/kanban-tasks/:id', 'kanban-tasks'],
    ['/api/webhooks', 'webhooks'],
    ['/health', 'open'],
    ['/openapi.json', 'open'],
    ['/docs/script.js', 'open'],
  ] as const)('of the family of %s is %s', (path, family) => {
    expect(familyOf({ path })).toBe(family);
  });
});

it('has an HTTP status for each error code', () => {
  expect(errorStatus).toEqual({
    invalid_json: 400,
    validation_failed: 400,
    unauthorized: 401,
    insufficient_scope: 403,
    system_agent: 403,
    not_found: 404,
    method_not_allowed: 405,
    name_taken: 409,
    has_dependents: 409,
    dependency_cycle: 409,
    agent_not_active: 409,
    task_blocked: 409,
    delegation_cycle: 409,
    delegation_too_deep: 409,
    improvement_in_progress: 409,
    request_in_progress: 409,
    limit_reached: 409,
    precondition_failed: 412,
    payload_too_large: 413,
    unsupported_media_type: 415,
    unknown_reference: 422,
    reserved_name: 422,
    url_not_allowed: 422,
    self_delegation: 422,
    idempotency_key_reused: 422,
    rate_limited: 429,
    internal_error: 500,
    unavailable: 503,
  });
});
