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

const itemsOf = async (query = '') => dataOf<ExecutionListItem[]>(await api.list(query));
const failing = async () => ({ kind: 'failed', error: 'No.', tokens: 1 }) as const;

/** Starts executions one after the other, and returns their ids, newest first. */
async function started(count: number, name = 'writer'): Promise<string[]> {
  const ids: string[] = [];
  for (let nth = 0; nth < count; nth++) ids.push(await api.start({}, name));
  return newestFirst(...ids);
}

describe('the list of executions', () => {
  it('is empty at first', async () => {
    const answer = await api.list();
    expect([answer.status, answer.body]).toEqual([
      200,
      { success: true, data: [], pagination: { limit: 20, offset: 0, total: 0 } },
    ]);
  });

  it('has exactly id, agentName, status and startedAt of a running execution', async () => {
    const id = await api.start({ context: { a: 1 } });
    const answer = await api.list();
    expect(Object.keys(answer.body)).toEqual(['success', 'data', 'pagination']);
    const [item] = await itemsOf();
    expect(Object.keys(item ?? {})).toEqual(['id', 'agentName', 'status', 'startedAt']);
    expect(item).toMatchObject({ id, agentName: 'writer', status: 'running' });
  });

  it.each([
    ['completed', undefined],
    ['failed', failing],
  ])('has exactly seven fields, in their order, of an execution that has %s', async (status, model) => {
    const taskId = await api.tasks.put();
    const id = await api.start({ taskId });
    await api.carryOut(id, model);
    const [item] = await itemsOf();
    const fields = ['id', 'agentName', 'taskId', 'status', 'startedAt', 'completedAt', 'durationMs'];
    expect(Object.keys(item ?? {})).toEqual(fields);
    expect(item).toMatchObject({ id, taskId, status });
    const { startedAt, completedAt = '', durationMs } = item as ExecutionListItem;
    expect(durationMs).toBe(Date.parse(completedAt) - Date.parse(startedAt));
  });

  it('has the executions of all agents, newest first, with the total', async () => {
    const ids = newestFirst(...(await started(2)), ...(await started(2, 'qa-reviewer')));
    expect(listed(await api.list())).toEqual([ids, 4]);
  });

  it('has nothing of another organization', async () => {
    await api.start();
    expect(listed(await (await newExecutionsApi()).list())).toEqual([[], 0]);
  });

  it('has 20 items by default and 100 at most, and returns that limit', async () => {
    const ids = await started(21);
    expect(listed(await api.list())).toEqual([ids.slice(0, 20), 21]);
    for (const query of ['limit=101', 'limit=99999999999999999999']) {
      const answer = await api.list(query);
      expect(paginationOf(answer)).toEqual({ limit: 100, offset: 0, total: 21 });
      expect(listed(answer)[0]).toEqual(ids);
    }
  });

  it('can be paged; after the last page it is empty, with the total', async () => {
    const ids = await started(5);
    expect(listed(await api.list('limit=2&offset=1'))).toEqual([ids.slice(1, 3), 5]);
    expect(listed(await api.list('limit=2&offset=4'))).toEqual([ids.slice(4), 5]);
    for (const offset of [5, 6, 999_999_999_999_999]) {
      const answer = await api.list(`limit=2&offset=${offset}&status=running`);
      expect([listed(answer)[0], paginationOf(answer)]).toEqual([[], { limit: 2, offset, total: 5 }]);
    }
  });

  it('can be filtered by status, which the end of an execution changes at once', async () => {
    const [third, second, first] = (await started(3)) as [string, string, string];
    await api.carryOut(first);
    await api.carryOut(second, failing);
    expect(listed(await api.list('status=completed'))).toEqual([[first], 1]);
    expect(listed(await api.list('status=failed'))).toEqual([[second], 1]);
    expect(listed(await api.list('status=running'))).toEqual([[third], 1]);
    expect(listed(await api.list())).toEqual([[third, second, first], 3]);
  });

  it('can be filtered by agent, and by agent and status, and paged', async () => {
    const [second, first] = (await started(2)) as [string, string];
    const [other] = (await started(1, 'qa-reviewer')) as [string];
    await api.carryOut(first);
    expect(listed(await api.list('agentName=writer'))).toEqual([[second, first], 2]);
    expect(listed(await api.list('agentName=qa-reviewer'))).toEqual([[other], 1]);
    expect(listed(await api.list('agentName=writer&status=completed'))).toEqual([[first], 1]);
    expect(listed(await api.list('agentName=qa-reviewer&status=completed'))).toEqual([[], 0]);
    expect(listed(await api.list('agentName=writer&limit=1&offset=1'))).toEqual([[first], 2]);
  });

  it('for an absent agent or an agent of another organization is an empty page', async () => {
    await api.start();
    const other = await newExecutionsApi();
    await other.agents.put({ name: 'theirs' });
    await other.start({}, 'theirs');
    for (const name of ['absent-agent', 'theirs', 'executions']) {
      const answer = await api.list(`agentName=${name}&limit=7&offset=3`);
      expect([answer.status, listed(answer)[0], paginationOf(answer)]).toEqual([
        200,
        [],
        { limit: 7, offset: 3, total: 0 },
      ]);
    }
  });
});

describe('the list of executions is rejected', () => {
  it.each([
    ['status=', 'status'],
    ['status=running&status=failed', 'status'],
    ['taskId=tk_01K00000000000000000000000', 'taskId'],
  ])('with 400 validation_failed for %s', async (query, path) => {
    const { details } = await idle.refuses(() => idle.list(query), 400, 'validation_failed');
    expect(details).toMatchObject([{ path }]);
  });

  it.each(['agent_name', 'agentname', 'agentNames'])(
    'with 400 for %s, with agentName as a suggestion',
    async (name) => {
      for (const list of [idle.list, (query: string) => idle.listOf('writer', query)]) {
        const { details } = await idle.refuses(() => list(`${name}=writer`), 400, 'validation_failed');
        const message = expect.stringContaining('did you mean agentName?');
        expect(details).toMatchObject([{ path: name, code: 'unknown_field', message }]);
      }
    },
  );

  it('with all errors in one response', async () => {
    const send = () => idle.list('status=x&agentName=X&limit=0&offset=-1&page=2');
    const { details } = await idle.refuses(send, 400, 'validation_failed');
    expect(details?.map(({ path }) => path).sort()).toEqual(['agentName', 'limit', 'offset', 'page', 'status']);
  });

  it('with 401 without a token and 403 without agents:read', async () => {
    await idle.refuses(() => idle.list('', { token: '' }), 401, 'unauthorized');
    const runner = await newExecutionsApi(['agents:write', 'agents:execute', 'tasks:read']);
    const { message } = await runner.refuses(() => runner.list('limit=0'), 403, 'insufficient_scope');
    expect(message).toContain('agents:read');
  });
});
