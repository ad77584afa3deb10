import { expect, it, vi } from 'vitest';
import { environment } from '../../../lib/names/environment.ts';
import { newForEachTest } from '../../caller.ts';
import { createTestExecutions, newDelegation, newExecution, passing } from './test-executions.ts';

// Six hours before the next UTC day.
vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T18:00:00.000Z') });

const { newExecutionsApi } = await createTestExecutions({ [environment.dailyTokens]: '60' });
const api = newForEachTest(newExecutionsApi);

it('a start, a delegation and a rerun get 429 rate_limited when the tokens of the day are used, and change nothing', async () => {
  const taskId = await api.tasks.put();
  const headers = { 'Idempotency-Key': 'first' };
  const first = await api.execute(newExecution, { headers });
  expect(first.status).toBe(200);
  const [id, second, running] = [await api.start(), await api.start(), await api.start()];
  // The output and both gates take 10 tokens each.
  for (const ended of [id, second]) await api.carryOut(ended, passing());
  const before = await api.dump();
  for (const send of [
    () => api.execute({ ...newExecution, taskId }),
    () => api.delegate({ ...newDelegation, toAgent: 'qa-reviewer' }),
    () => api.agents.rerunExecution({ params: { name: 'writer', id } }),
  ]) {
    const { message } = await api.refuses(send, 429, 'rate_limited');
    expect(message).toContain('has used its budget of 60 tokens for this UTC day');
    expect((await send()).headers['Retry-After']).toBe(String(6 * 60 * 60));
  }
  expect(await api.dump()).toEqual(before);
  expect((await api.execute(newExecution, { headers })).body).toEqual(first.body);
  await api.carryOut(running);
  expect(await api.execution(running)).toMatchObject({ status: 'completed' });
});

it('another organization can start executions, and so can one whose executions used fewer tokens', async () => {
  const other = await newExecutionsApi();
  await api.carryOut(await api.start());
  await other.start();
  await api.start();
});
