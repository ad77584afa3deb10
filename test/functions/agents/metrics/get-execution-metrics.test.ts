import { describe, expect, it } from 'vitest';
import type { AgentMetrics, ExecutionMetrics } from '../../../../lib/contract/agents/agent-metrics.ts';
import { hashOf } from '../../../../lib/table/agents/agent-items.ts';
import { dataOf } from '../../../api.ts';
import { newForEachTest } from '../../../caller.ts';
import { createTestExecutions } from '../../executions/test-executions.ts';

const { newExecutionsApi } = await createTestExecutions();
const api = newForEachTest(newExecutionsApi);

const get = (query = '') => api.agents.getExecutionMetrics({ query });
const metricsOf = async (query = '') => dataOf<ExecutionMetrics>(await get(query));
const agentMetricsOf = async (query: string, name = 'writer') =>
  dataOf<AgentMetrics>(await api.agents.getMetrics({ params: { name }, query }));

const failing = async () => ({ kind: 'failed', error: 'No.', tokens: 5 }) as const;
const quietDay = { total: 0, failed: 0, tokens: 0, p50DurationMs: 0, p95DurationMs: 0 };

/** Returns the fields of a series that do not depend on the speed of the test. */
const countsOf = (series: ExecutionMetrics['series'] = []) =>
  series.map(({ total, failed, tokens }) => ({ total, failed, tokens }));

describe('the metrics of all executions', () => {
  it('have exactly the specified fields, in their order, and zeros for each day without executions', async () => {
    for (const [period, days] of [
      ['7d', 7],
      ['30d', 30],
      ['90d', 90],
    ] as const) {
      const answer = await get(`period=${period}`);
      expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['success', 'data']]);
      const { series, ...totals } = dataOf<ExecutionMetrics>(answer);
      expect(JSON.stringify(totals)).toBe(
        JSON.stringify({
          period,
          executions: { total: 0, completed: 0, failed: 0, running: 0, successRate: 0 },
          performance: { avgDurationMs: 0, p50DurationMs: 0, p95DurationMs: 0 },
          tokens: { total: 0, avgPerExecution: 0 },
          runningLimit: 50,
        }),
      );
      const dates = series.map(({ date }) => date);
      expect(dates).toEqual([...new Set(dates)].sort());
      expect(dates).toHaveLength(days);
      expect(JSON.stringify(series)).toBe(JSON.stringify(dates.map((date) => ({ date, ...quietDay }))));
    }
    expect(await metricsOf()).toEqual(await metricsOf('period=30d'));
  });

  it('count the executions of all agents, and each end at once', async () => {
    const [first, second] = [await api.start(), await api.start({}, 'qa-reviewer')];
    await api.start({}, 'qa-reviewer');
    expect((await metricsOf()).executions).toMatchObject({ total: 3, running: 3 });
    await api.carryOut(first);
    await api.carryOut(second, failing);
    const { executions, tokens, series } = await metricsOf();
    expect(executions).toEqual({ total: 3, completed: 1, failed: 1, running: 1, successRate: 0.5 });
    expect(tokens).toEqual({ total: 35, avgPerExecution: 18 });
    const counted = countsOf(series).filter(({ total }) => total > 0);
    const sumOf = (field: 'total' | 'failed' | 'tokens') => counted.reduce((sum, day) => sum + day[field], 0);
    expect([sumOf('total'), sumOf('failed'), sumOf('tokens')]).toEqual([3, 1, 35]);
  });

  it('count a cancelled execution as failed', async () => {
    await api.agents.cancelExecution({ params: { name: 'writer', id: await api.start() } });
    expect((await metricsOf()).executions).toMatchObject({ total: 1, failed: 1, running: 0 });
  });

  it('keep the ended executions of a deleted agent, and no longer count its running ones', async () => {
    await api.carryOut(await api.start());
    await api.carryOut(await api.start(), failing);
    const ended = await metricsOf();
    await api.start();
    await api.agents.delete('writer');
    expect(await metricsOf()).toEqual(ended);
  });

  it('have nothing of another organization', async () => {
    const other = await newExecutionsApi();
    await other.carryOut(await other.start());
    await other.start();
    expect((await metricsOf()).executions.total).toBe(0);
  });

  it.each(['period=1d', 'period=', 'series=daily', `prompt=${hashOf('')}`, 'agentName=writer', 'limit=1'])(
    'lead to 400 validation_failed for the query %s, and change nothing',
    async (query) => {
      await api.refuses(() => get(query), 400, 'validation_failed');
    },
  );

  it('lead to 403 insufficient_scope without agents:read, and change nothing', async () => {
    const other = await newExecutionsApi(['tasks:read', 'agents:write', 'agents:execute']);
    await other.refuses(() => other.agents.getExecutionMetrics(), 403, 'insufficient_scope');
  });
});

describe('the daily series of an agent', () => {
  it('is beside its other metrics, and absent without the parameter', async () => {
    await api.carryOut(await api.start());
    await api.start({}, 'qa-reviewer');
    const { series, ...totals } = await agentMetricsOf('period=7d&series=daily');
    expect(JSON.stringify(totals)).toBe(JSON.stringify(await agentMetricsOf('period=7d')));
    expect(series).toHaveLength(7);
    const { p50DurationMs, p95DurationMs } = totals.performance;
    const days = series?.filter(({ total }) => total > 0) ?? [];
    expect(days).toEqual([{ date: days[0]?.date, total: 1, failed: 0, tokens: 30, p50DurationMs, p95DurationMs }]);
  });

  it('counts only the executions with a prompt', async () => {
    await api.carryOut(await api.start());
    await api.agents.update('writer', { systemPrompt: 'Write.' });
    await api.carryOut(await api.start(), failing);
    await api.start();
    for (const [prompt, total, failed] of [
      ['', 1, 0],
      ['Write.', 2, 1],
    ] as const) {
      const { series = [] } = await agentMetricsOf(`prompt=${hashOf(prompt)}&series=daily`);
      const counted = countsOf(series).filter((day) => day.total > 0);
      expect(counted.map((day) => [day.total, day.failed])).toEqual([[total, failed]]);
    }
  });

  it.each(['series=', 'series=hourly', 'series=daily&series=daily'])(
    'leads to 400 validation_failed for the query %s, and changes nothing',
    async (query) => {
      const request = { params: { name: 'writer' }, query };
      await api.refuses(() => api.agents.getMetrics(request), 400, 'validation_failed');
    },
  );

  it('leads to 404 not_found for an absent agent, and changes nothing', async () => {
    const request = { params: { name: 'absent' }, query: 'series=daily' };
    await api.refuses(() => api.agents.getMetrics(request), 404, 'not_found');
  });
});
