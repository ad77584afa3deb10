import { describe, expect, it } from 'vitest';
import { pathParameters, scopes } from '../../lib/contract/endpoint.ts';
import { requiredScopes } from '../../lib/contract/required-scopes.ts';
import { familyOf, fileNameOf, functionFolderOf, matchPath, routes } from '../../lib/contract/routes.ts';

const operationsAt = (path: string) => matchPath(path).map(({ operation }) => operation);

describe('the endpoints', () => {
  it('have each method of a path only once', () => {
    const taken = routes.map(([, row]) => `${row.method} ${row.path}`);
    expect(new Set(taken).size).toBe(taken.length);
  });

  it('have a schema for each parameter of their paths, and no other schema', () => {
    for (const [, row] of routes) expect(Object.keys(row.params ?? {})).toEqual(pathParameters(row.path));
  });

  it('require a scope of their family: a read scope for GET, and another scope for other methods', () => {
    const scoped = routes.filter(([, { path, scope }]) => path.startsWith('/api/') && scope !== 'any');
    for (const [, row] of scoped) {
      const required = requiredScopes(row);
      expect(required.length).toBeGreaterThan(0);
      for (const scope of required) {
        expect(scopes).toContain(scope);
        expect(row.path.split('/')[2]).toContain(scope.split(':')[0]);
        expect(scope.endsWith(':read')).toBe(row.method === 'GET');
      }
    }
  });

  it('need no token outside of /api, and any token where they show nothing of a family or offer tools', () => {
    const others = routes.filter(([, { scope }]) => scope === undefined || scope === 'any');
    expect(Object.fromEntries(others.map(([, { path, scope }]) => [path, scope]))).toEqual({
      '/health': undefined,
      '/openapi.json': undefined,
      '/docs': undefined,
      '/docs/script.js': undefined,
      '/mcp': 'any',
      '/api/me': 'any',
    });
  });
});

describe('a path', () => {
  it('matches the endpoints of all its methods', () => {
    expect(operationsAt('/api/kanban-tasks').sort()).toEqual(['createTask', 'listTasks']);
    expect(operationsAt('/api/kanban-tasks/x').sort()).toEqual(['deleteTask', 'getTask', 'updateTask']);
  });

  it('matches an endpoint with a static segment before one with a parameter', () => {
    expect(operationsAt('/api/kanban-tasks/counts')[0]).toBe('countTasks');
    expect(operationsAt('/api/agents/executions')[0]).toBe('listExecutions');
    expect(operationsAt('/api/agents/writer/executions')).toEqual(['listAgentExecutions']);
    expect(operationsAt('/api/agents/executions/executions')).toEqual(['listAgentExecutions']);
    expect(operationsAt('/api/agents/writer/executions/execute')).toEqual(['getExecution']);
    expect(operationsAt('/api/agents/writer/execute')).toEqual(['executeAgent']);
    expect(operationsAt('/api/agents/writer/metrics')).toEqual(['getMetrics']);
    expect(operationsAt('/api/agents/executions/metrics')).toEqual(['getExecutionMetrics']);
  });

  it('has its parameters unchanged, not decoded again', () => {
    expect(matchPath('/api/kanban-tasks/%2e%2e')[0]?.params).toEqual({ id: '%2e%2e' });
    expect(matchPath('/api/kanban-tasks/__proto__')[0]?.params).toEqual({ id: '__proto__' });
  });
});

describe('an endpoint whose last parameter can have the text of a fixed path', () => {
  /** The fixed paths that differ from the path of an endpoint in the last segment only, which is a parameter there. */
  const besidesOf = ({ path }: { path: string }) => {
    const [, before, parameter] = /^(.*\/):(\w+)$/.exec(path) ?? [];
    if (!parameter) return [];
    return routes
      .map(([, row]) => row)
      .filter(
        (row) =>
          row.path.startsWith(before as string) &&
          !row.path.includes(':') &&
          !row.path.slice(before?.length).includes('/'),
      );
  };

  it('names the fixed paths without its method, except where the parameter is the name of an agent', () => {
    for (const [operation, row] of routes.filter(([, { path }]) => !path.endsWith(':name'))) {
      const besides = besidesOf(row);
      const others = besides.filter(
        ({ path }) => !besides.some((one) => one.path === path && one.method === row.method),
      );
      const expected = others.map(({ path, method }) => [path.split('/').at(-1), method]);
      expect([operation, row.fixedBeside ?? {}]).toEqual([
        operation,
        expect.objectContaining(Object.fromEntries(expected)),
      ]);
      expect(Object.keys(row.fixedBeside ?? {}).length).toBe(expected.length);
    }
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
    ['/api/me', 'me'],
    ['/health', 'open'],
    ['/openapi.json', 'open'],
    ['/docs/script.js', 'open'],
  ] as const)('of the family of %s is %s', (path, family) => {
    expect(familyOf({ path })).toBe(family);
  });

  it.each([
    ['/api/agents/:name', 'agents'],
    ['/api/agents/:name/execute', 'executions'],
    ['/api/agents/:name/delegate', 'executions'],
    ['/api/agents/executions', 'executions'],
    ['/api/agents/:name/executions', 'executions'],
    ['/api/agents/:name/executions/:id/steps', 'executions'],
    ['/api/agents/executions/metrics', 'agents'],
    ['/api/kanban-tasks/:id', 'kanban-tasks'],
    ['/health', 'open'],
  ] as const)('of the folder of the function of %s is %s', (path, folder) => {
    expect(functionFolderOf({ path })).toBe(folder);
  });
});
