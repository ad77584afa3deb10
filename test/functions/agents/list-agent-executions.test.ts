import { beforeEach, describe, expect, it } from 'vitest';
import type { ExecutionListItem } from '../../../lib/contract/executions.ts';
import { dataOf, paginationOf } from '../../api.ts';
import { createTestExecutions, type ExecutionsApi, listed, newestFirst } from './test-executions.ts';

const { newExecutionsApi } = await createTestExecutions();
/** An organization without executions. */
const idle = await newExecutionsApi();
let api: ExecutionsApi;
beforeEach(async () => {
  api = await newExecutionsApi();
});

describe("the list of an agent's executions", () => {
  it('is empty at first', async () => {
    const answer = await api.listOf('writer');
    expect([answer.status, answer.body]).toEqual([
      200,
      { success: true, data: [], pagination: { limit: 20, offset: 0, total: 0 } },
    ]);
  });

  it('has only the executions of the agent, with the fields of the list of all', async () => {
    const taskId = await api.tasks.put();
    const first = await api.start({ taskId });
    await api.start({}, 'qa-reviewer');
    const second = await api.start();
    await api.carryOut(first);
    expect(listed(await api.listOf('writer'))).toEqual([newestFirst(first, second), 2]);
    const own = dataOf<ExecutionListItem[]>(await api.listOf('writer'));
    const all = dataOf<ExecutionListItem[]>(await api.list());
    expect(own).toEqual(all.filter(({ agentName }) => agentName === 'writer'));
    const keysOf = (id: string) => Object.keys(own.find((item) => item.id === id) ?? {});
    expect(keysOf(second)).toEqual(['id', 'agentName', 'status', 'startedAt']);
    expect(keysOf(first)).toEqual(['id', 'agentName', 'taskId', 'status', 'startedAt', 'completedAt', 'durationMs']);
  });

  it('can be filtered by status and paged', async () => {
    const ids = newestFirst(await api.start(), await api.start(), await api.start());
    const [third, second, first] = ids as [string, string, string];
    await api.carryOut(second);
    expect(listed(await api.listOf('writer', 'status=running'))).toEqual([[third, first], 2]);
    expect(listed(await api.listOf('writer', 'status=completed'))).toEqual([[second], 1]);
    expect(listed(await api.listOf('writer', 'status=failed'))).toEqual([[], 0]);
    expect(listed(await api.listOf('writer', 'status=running&limit=1&offset=1'))).toEqual([[first], 2]);
    expect(listed(await api.listOf('writer', 'offset=3'))).toEqual([[], 3]);
    expect(paginationOf(await api.listOf('writer', 'limit=1000'))).toEqual({ limit: 100, offset: 0, total: 3 });
  });

  it('accepts the name of the agent as agentName, and is an empty page for any other', async () => {
    const id = await api.start();
    await api.start({}, 'qa-reviewer');
    expect(listed(await api.listOf('writer', 'agentName=writer'))).toEqual([[id], 1]);
    for (const name of ['qa-reviewer', 'absent-agent']) {
      const answer = await api.listOf('writer', `agentName=${name}&limit=7&offset=3`);
      expect([answer.status, listed(answer)[0]]).toEqual([200, []]);
      expect(paginationOf(answer)).toEqual({ limit: 7, offset: 3, total: 0 });
    }
  });

  it.each(['inactive', 'draft'])('exists for an agent that is %s', async (status) => {
    const id = await api.start();
    await api.agents.update('writer', { status });
    expect(listed(await api.listOf('writer'))).toEqual([[id], 1]);
  });
});

describe("the list of an agent's executions is rejected", () => {
  it.each(['absent-agent', 'No Name', 'x'.repeat(65), '__proto__', 'skills'])(
    'with 404 not_found for %s, with any agentName',
    async (name) => {
      await idle.refuses(() => idle.listOf(name), 404, 'not_found');
      await idle.refuses(() => idle.listOf(name, 'agentName=writer'), 404, 'not_found');
    },
  );

  it("with 404 not_found for another organization's agent", async () => {
    const other = await newExecutionsApi();
    await other.agents.put({ name: 'theirs' });
    await idle.refuses(() => idle.listOf('theirs'), 404, 'not_found');
  });

  it('with 400 validation_failed, with all errors in one response', async () => {
    const send = () => idle.listOf('writer', 'status=pending&agentName=No%20Name&limit=0&offset=-1&name=writer');
    const { details } = await idle.refuses(send, 400, 'validation_failed');
    expect(details?.map(({ path }) => path).sort()).toEqual(['agentName', 'limit', 'name', 'offset', 'status']);
  });

  it('with 404 for an invalid name before 400, and with 400 before 404 for an absent agent', async () => {
    await idle.refuses(() => idle.listOf('No Name', 'limit=0'), 404, 'not_found');
    await idle.refuses(() => idle.listOf('absent-agent', 'limit=0'), 400, 'validation_failed');
  });

  it('with 401 without a token and 403 without agents:read', async () => {
    await idle.refuses(() => idle.listOf('absent-agent', '', { token: '' }), 401, 'unauthorized');
    const runner = await newExecutionsApi(['agents:write', 'agents:execute']);
    await runner.refuses(() => runner.listOf('absent-agent'), 403, 'insufficient_scope');
  });
});
