import { describe, expect, it } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import type { ExecutionListItem } from '../../../lib/contract/executions/executions.ts';
import { issueToken } from '../../../lib/http/issue-token.ts';
import { dataOf, paginationOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { createTestExecutions, listed, newestFirst } from './test-executions.ts';

const { newExecutionsApi } = await createTestExecutions();
const api = newForEachTest(newExecutionsApi);

const failing = async () => ({ kind: 'failed', error: 'No.', tokens: 1 }) as const;

describe('the list of executions', () => {
  it('is empty at first, also if another organization has executions', async () => {
    await (await newExecutionsApi()).start();
    const empty = { success: true, data: [], pagination: { limit: 20, offset: 0, total: 0 } };
    for (const answer of [await api.list(), await api.listOf('writer')])
      expect([answer.status, answer.body]).toEqual([200, empty]);
  });

  it('has exactly the specified fields of an execution that runs or has ended, without its input', async () => {
    const taskId = await api.tasks.put();
    const running = await api.start({ input: 'private-input', context: { note: 'private-context' } });
    const ended = await api.start({ taskId });
    await api.carryOut(ended);
    const answer = await api.list();
    expect(Object.keys(answer.body)).toEqual(['success', 'data', 'pagination']);
    expect(JSON.stringify(answer.body)).not.toContain('private');
    const items = dataOf<ExecutionListItem[]>(answer);
    const itemOf = (id: string) => items.find((item) => item.id === id) as ExecutionListItem;
    expect(Object.keys(itemOf(running))).toEqual(['id', 'agentName', 'status', 'startedAt', 'startedBy']);
    const fields = ['id', 'agentName', 'taskId', 'status', 'startedAt', 'completedAt', 'durationMs', 'stepCount'];
    expect(Object.keys(itemOf(ended))).toEqual([...fields, 'startedBy']);
    expect(itemOf(ended)).toMatchObject({ agentName: 'writer', taskId, status: 'completed' });
  });

  it('has what has started each execution, while it runs and afterwards', async () => {
    await api.agents.put({ name: 'reader' });
    const { id: delegated } = await api.startDelegated('writer', 'reader');
    const requested = await api.start();
    const startsOf = async () =>
      dataOf<ExecutionListItem[]>(await api.list()).map(({ id, startedBy }) => [id, startedBy?.kind]);
    const expected = newestFirst(delegated, requested).map((id) => [id, id === delegated ? 'delegation' : 'request']);
    expect(await startsOf()).toEqual(expected);
    for (const id of [delegated, requested]) await api.carryOut(id);
    expect(await startsOf()).toEqual(expected);
  });

  it('has the results of its executions if the request asks for them', async () => {
    const running = await api.start();
    const ended = await api.start();
    await api.carryOut(ended);
    for (const answer of [await api.list('include=results'), await api.listOf('writer', 'include=results')]) {
      const items = dataOf<ExecutionListItem[]>(answer);
      const resultsOf = (id: string) => {
        const { tokensUsed, qualityGates } = items.find((item) => item.id === id) as ExecutionListItem;
        return { tokensUsed, qualityGates };
      };
      expect(resultsOf(running)).toEqual({});
      const { tokensUsed, qualityGates } = await api.execution(ended);
      expect(tokensUsed).toBeGreaterThan(0);
      expect(resultsOf(ended)).toEqual({ tokensUsed, qualityGates });
    }
  });

  it('has the code of an error with the results, so that a cancelled execution is told from a failed one', async () => {
    const cancelled = await api.start();
    const failed = await api.start();
    await api.agents.cancelExecution({ params: { name: 'writer', id: cancelled } });
    await api.carryOut(failed, async () => ({ kind: 'failed', error: 'The model did not answer.', tokens: 7 }));
    const errorsOf = async (query: string) =>
      Object.fromEntries(dataOf<ExecutionListItem[]>(await api.list(query)).map(({ id, error }) => [id, error]));
    expect(await errorsOf('include=results')).toEqual({ [cancelled]: 'cancelled', [failed]: undefined });
    expect(await errorsOf('')).toEqual({ [cancelled]: undefined, [failed]: undefined });
  });

  it.each(['', '&include=results'])(
    'has the first 200 characters of the input, and the title of the task, if the request asks for them%s',
    async (more) => {
      const taskId = await api.tasks.put({ title: 'Draw it' });
      const onTask = await api.start({ taskId, input: 'Short.' });
      // The 200th character has two code units, which an end in between would separate.
      const long = await api.start({ input: `${'x'.repeat(199)}😀😀`, context: { note: 'private-context' } });
      await api.carryOut(long);
      await api.tasks.updateTask({ params: { id: taskId }, body: { title: 'Paint it' } });
      const query = more ? 'include=results,subject' : 'include=subject';
      for (const answer of [await api.list(query), await api.listOf('writer', query)]) {
        expect(JSON.stringify(answer.body)).not.toContain('private');
        const items = dataOf<ExecutionListItem[]>(answer);
        const itemOf = (id: string) => items.find((item) => item.id === id) as ExecutionListItem;
        expect(itemOf(onTask)).toMatchObject({ inputStart: 'Short.', taskTitle: 'Paint it' });
        expect(itemOf(long).inputStart).toBe(`${'x'.repeat(199)}😀`);
        expect(itemOf(long)).not.toHaveProperty('taskTitle');
        expect(itemOf(long).tokensUsed !== undefined).toBe(more !== '');
      }
    },
  );

  it('has no title of a task that was deleted', async () => {
    const taskId = await api.tasks.put();
    await api.carryOut(await api.start({ taskId, input: 'Do it.' }));
    await api.tasks.deleteTask({ params: { id: taskId } });
    const [item] = dataOf<ExecutionListItem[]>(await api.list('include=subject'));
    expect(item).toMatchObject({ taskId, inputStart: 'Do it.' });
    expect(item).not.toHaveProperty('taskTitle');
  });

  it('has no titles of tasks for an access token that cannot read tasks', async () => {
    await api.start({ taskId: await api.tasks.put({ title: 'private-title' }), input: 'Do it.' });
    const { organization } = api;
    const token = await issueToken(processContext(), { organization, scopes: ['agents:read'] });
    for (const answer of [
      await api.list('include=subject', { token }),
      await api.listOf('writer', 'include=subject', { token }),
    ]) {
      expect(dataOf<ExecutionListItem[]>(answer)).toMatchObject([{ inputStart: 'Do it.' }]);
      expect(JSON.stringify(answer.body)).not.toContain('private');
    }
  });

  it.each([
    ['an unknown value', 'output'],
    ['an unknown value beside a known one', 'results,output'],
    ['a repeated value', 'subject,subject'],
    ['spaces', 'results,%20subject'],
    ['an empty value', 'results,'],
  ])('is refused with %s of `include`', async (_, value) => {
    for (const send of [() => api.list(`include=${value}`), () => api.listOf('writer', `include=${value}`)]) {
      const error = await api.refuses(send, 400, 'validation_failed');
      const message = 'include must be one or more of results, subject, each once, separated by commas';
      expect(error.details).toEqual([{ path: 'include', code: 'invalid_value', message }]);
    }
  });

  it('can be filtered by agent and status, and paged, with the exact total', async () => {
    const ids = newestFirst(await api.start(), await api.start(), await api.start());
    const [third, second, first] = ids as [string, string, string];
    const other = await api.start({}, 'qa-reviewer');
    await api.carryOut(first);
    await api.carryOut(second, failing);
    for (const [query, found, total] of [
      ['', newestFirst(...ids, other), 4],
      ['status=completed', [first], 1],
      ['status=failed', [second], 1],
      ['status=running', newestFirst(third, other), 2],
      ['agentName=writer', ids, 3],
      ['agentName=qa-reviewer&status=completed', [], 0],
      ['agentName=writer&limit=1&offset=1', [second], 3],
      ['agentName=writer&limit=2&offset=999999999999999', [], 3],
    ] as const)
      expect([query, ...listed(await api.list(query))]).toEqual([query, found, total]);
    for (const [query, found, total] of [
      ['', ids, 3],
      ['status=running', [third], 1],
      ['agentName=writer&limit=1&offset=2', [first], 3],
    ] as const)
      expect([query, ...listed(await api.listOf('writer', query))]).toEqual([query, found, total]);
  });

  it('for an absent agent or an agent of another organization is an empty page', async () => {
    await api.start();
    const other = await newExecutionsApi();
    await other.agents.put({ name: 'theirs' });
    await other.start({}, 'theirs');
    for (const name of ['absent-agent', 'theirs', 'executions']) {
      const answer = await api.list(`agentName=${name}&limit=7&offset=3`);
      expect([answer.status, listed(answer)[0]]).toEqual([200, []]);
      expect(paginationOf(answer)).toEqual({ limit: 7, offset: 3, total: 0 });
    }
  });
});

describe("the list of an agent's executions", () => {
  it('has the fields of the list of all', async () => {
    await api.start({}, 'qa-reviewer');
    await api.carryOut(await api.start({ taskId: await api.tasks.put() }));
    await api.start();
    await api.agents.update('writer', { status: 'inactive' });
    const all = dataOf<ExecutionListItem[]>(await api.list());
    expect(dataOf(await api.listOf('writer'))).toEqual(all.filter(({ agentName }) => agentName === 'writer'));
  });

  it('is an empty page for the name of another agent', async () => {
    await api.start();
    await api.start({}, 'qa-reviewer');
    const answer = await api.listOf('writer', 'agentName=qa-reviewer&limit=7&offset=3');
    expect([answer.status, ...listed(answer)]).toEqual([200, [], 0]);
  });
});
