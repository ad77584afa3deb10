import { beforeEach, describe, expect, it } from 'vitest';
import { handler } from '../../../functions/agents/get-metrics.ts';
import type { AgentMetrics } from '../../../lib/contract/agent-metrics.ts';
import { dataOf } from '../../api.ts';
import { call, type Sent } from '../../service.ts';
import { createTestExecutions, type ExecutionsApi } from './test-executions.ts';

const { newExecutionsApi } = await createTestExecutions();
/** An organization without executions. */
const idle = await newExecutionsApi();
let api: ExecutionsApi;
beforeEach(async () => {
  api = await newExecutionsApi();
});

const get = (by: ExecutionsApi, name = 'writer', query = '', more: Sent = {}) =>
  call(handler, { path: `/api/agents/${name}/metrics`, params: { name }, query, token: by.token, ...more });

const metricsOf = async (name = 'writer', query = '') => dataOf<AgentMetrics>(await get(api, name, query));

const nothing = {
  executions: { total: 0, completed: 0, failed: 0, running: 0, successRate: 0 },
  performance: { avgDurationMs: 0, p50DurationMs: 0, p95DurationMs: 0 },
  tokens: { total: 0, avgPerExecution: 0 },
};

describe('the metrics of an agent', () => {
  it('have exactly the specified fields, in their order, and are zeros without executions', async () => {
    const answer = await get(idle);
    expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['success', 'data']]);
    expect(answer.headers).not.toHaveProperty('ETag');
    const metrics = dataOf<AgentMetrics>(answer);
    expect(metrics).toEqual({ agentName: 'writer', period: '30d', ...nothing });
    expect(Object.keys(metrics)).toEqual(['agentName', 'period', 'executions', 'performance', 'tokens']);
    for (const part of ['executions', 'performance', 'tokens'] as const)
      expect(Object.keys(metrics[part])).toEqual(Object.keys(nothing[part]));
  });

  it.each([
    ['', '30d'],
    ['period=7d', '7d'],
    ['period=30d', '30d'],
    ['period=90d', '90d'],
  ])('for the query %j have the period %s', async (query, period) => {
    expect(dataOf<AgentMetrics>(await get(idle, 'writer', query)).period).toBe(period);
  });

  it('count running executions, and each end at once', async () => {
    const [first, second] = [await api.start(), await api.start()];
    await api.start({}, 'qa-reviewer');
    expect((await metricsOf()).executions).toEqual({ ...nothing.executions, total: 2, running: 2 });
    await api.carryOut(first);
    await api.carryOut(second, async () => ({ kind: 'failed', error: 'No.', tokens: 5 }));
    const metrics = await metricsOf();
    expect(metrics.executions).toEqual({ total: 2, completed: 1, failed: 1, running: 0, successRate: 0.5 });
    const ends = [await api.execution(first), await api.execution(second)];
    const [shorter = 0, longer = 0] = ends.map(({ durationMs = 0 }) => durationMs).sort((a, b) => a - b);
    expect(metrics.performance).toEqual({
      ...{ p50DurationMs: shorter, p95DurationMs: longer },
      avgDurationMs: Math.round((shorter + longer) / 2),
    });
    expect(metrics.tokens).toEqual({ total: 35, avgPerExecution: 18 });
  });

  it.each(['inactive', 'draft'])('exist for an agent that is %s', async (status) => {
    await api.carryOut(await api.start());
    await api.agents.update('writer', { status });
    expect((await metricsOf()).executions.completed).toBe(1);
  });

  it('exist for a system agent, and require only the scope agents:read', async () => {
    const reader = await newExecutionsApi(['agents:read']);
    expect(dataOf<AgentMetrics>(await get(reader, 'qa-reviewer'))).toMatchObject({ agentName: 'qa-reviewer' });
  });

  it('are deleted with the agent; a new agent with its name starts at zero', async () => {
    await api.carryOut(await api.start());
    await api.start();
    expect((await metricsOf()).executions.total).toBe(2);
    expect((await api.agents.delete('writer')).status).toBe(200);
    await api.refuses(() => get(api), 404, 'not_found');
    await api.agents.put();
    for (const period of ['7d', '30d', '90d'])
      expect(await metricsOf('writer', `period=${period}`)).toEqual({ agentName: 'writer', period, ...nothing });
  });
});

describe('the metrics of an agent are rejected', () => {
  it.each(['absent-agent', 'No Name', 'Writer', 'x'.repeat(65), '__proto__', '', 'executions', 'skills'])(
    'with 404 not_found for %j',
    async (name) => {
      await idle.refuses(() => get(idle, name), 404, 'not_found');
    },
  );

  it("with 404 not_found for another organization's agent", async () => {
    await api.agents.put({ name: 'theirs' });
    await idle.refuses(() => get(idle, 'theirs'), 404, 'not_found');
  });

  it.each(['1d', '30', '30D', '365d', '7d%20', 'constructor'])(
    'with 400 validation_failed for the period %j, with the valid periods',
    async (period) => {
      const { details } = await idle.refuses(() => get(idle, 'writer', `period=${period}`), 400, 'validation_failed');
      expect(details).toMatchObject([{ path: 'period', code: 'invalid_value' }]);
      for (const known of ['7d', '30d', '90d']) expect(details?.[0]?.message).toContain(known);
    },
  );

  it.each(['period=', 'period=7d&period=30d'])('with 400 validation_failed for %s', async (query) => {
    const { details } = await idle.refuses(() => get(idle, 'writer', query), 400, 'validation_failed');
    expect(details).toMatchObject([{ path: 'period' }]);
  });

  it('with 400 validation_failed for an unknown parameter, with a suggestion', async () => {
    const { details } = await idle.refuses(() => get(idle, 'writer', 'preiod=7d'), 400, 'validation_failed');
    expect(details).toMatchObject([{ path: 'preiod', code: 'unknown_field' }]);
    expect(details?.[0]?.message).toContain('period');
    await idle.refuses(() => get(idle, 'writer', 'limit=7'), 400, 'validation_failed');
  });

  it('with 404 for an invalid name before 400, and with 400 before 404 for an absent agent', async () => {
    await idle.refuses(() => get(idle, 'No Name', 'period=1d'), 404, 'not_found');
    await idle.refuses(() => get(idle, 'absent-agent', 'period=1d'), 400, 'validation_failed');
  });

  it('with 401 without a token and 403 without agents:read', async () => {
    await idle.refuses(() => get(idle, 'absent-agent', '', { token: '' }), 401, 'unauthorized');
    const runner = await newExecutionsApi(['agents:write', 'agents:execute', 'tasks:read']);
    await runner.refuses(() => get(runner, 'absent-agent'), 403, 'insufficient_scope');
  });
});
