import { describe, expect, it } from 'vitest';
import type { AgentMetrics } from '../../../../lib/contract/agents/agent-metrics.ts';
import { hashOf } from '../../../../lib/table/agents/agent-items.ts';
import { dataOf } from '../../../api.ts';
import { newForEachTest } from '../../../caller.ts';
import { createTestExecutions } from '../../executions/test-executions.ts';

const { newExecutionsApi } = await createTestExecutions();
const api = newForEachTest(newExecutionsApi);

const get = (query = '', name = 'writer') => api.agents.getMetrics({ params: { name }, query });
const metricsOf = async (query = '', name = 'writer') => dataOf<AgentMetrics>(await get(query, name));

const nothing = {
  executions: { total: 0, completed: 0, failed: 0, running: 0, successRate: 0 },
  performance: { avgDurationMs: 0, p50DurationMs: 0, p95DurationMs: 0 },
  tokens: { total: 0, avgPerExecution: 0 },
};

describe('the metrics of an agent', () => {
  it('have exactly the specified fields, in their order, and are zeros without executions', async () => {
    const answer = await get();
    expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['success', 'data']]);
    expect(answer.headers).not.toHaveProperty('ETag');
    const fields = { agentName: 'writer', period: '30d', ...nothing };
    expect(JSON.stringify(dataOf(answer))).toBe(JSON.stringify(fields));
    for (const period of ['7d', '30d', '90d'])
      expect(await metricsOf(`period=${period}`)).toEqual({ ...fields, period });
  });

  it('with a prompt count only its executions, and name it', async () => {
    await api.carryOut(await api.start());
    await api.agents.update('writer', { systemPrompt: 'Write.' });
    const [before, after] = [hashOf(''), hashOf('Write.')];
    expect(await metricsOf(`prompt=${encodeURIComponent(after)}`)).toEqual({
      ...{ agentName: 'writer', period: '30d', prompt: after },
      ...nothing,
    });
    const metrics = await metricsOf(`prompt=${before}`);
    expect(metrics).toMatchObject({ prompt: before, executions: { total: 1, completed: 1 } });
    const { performance } = await metricsOf();
    // The percentiles of one prompt are within 5 %.
    const difference = Math.abs(metrics.performance.p50DurationMs - performance.p50DurationMs);
    expect(difference).toBeLessThanOrEqual(0.05 * performance.p50DurationMs + 0.5);
    for (const prompt of ['', 'sha256:1', after.toUpperCase(), after.slice(7)])
      await api.refuses(() => get(`prompt=${prompt}`), 400, 'validation_failed');
  });

  it('count running executions, and each end at once', async () => {
    const [first, second] = [await api.start(), await api.start()];
    await api.start({}, 'qa-reviewer');
    expect((await metricsOf()).executions).toEqual({ ...nothing.executions, total: 2, running: 2 });
    await api.carryOut(first);
    await api.carryOut(second, async () => ({ kind: 'failed', error: 'No.', tokens: 5 }));
    await api.agents.update('writer', { status: 'inactive' });
    const metrics = await metricsOf();
    expect(metrics.executions).toEqual({ total: 2, completed: 1, failed: 1, running: 0, successRate: 0.5 });
    const ends = [await api.execution(first), await api.execution(second)];
    const [shorter = 0, longer = 0] = ends.map(({ durationMs = 0 }) => durationMs).sort((a, b) => a - b);
    expect(metrics.performance).toEqual({
      ...{ p50DurationMs: shorter, p95DurationMs: longer },
      avgDurationMs: Math.round((shorter + longer) / 2),
    });
    expect(metrics.tokens).toEqual({ total: 35, avgPerExecution: 18 });
    expect(await metricsOf('', 'qa-reviewer')).toMatchObject({ agentName: 'qa-reviewer', executions: { running: 1 } });
  });
});
