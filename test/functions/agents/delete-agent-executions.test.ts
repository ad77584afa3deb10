import { beforeEach, describe, expect, it } from 'vitest';
import { dataOf } from '../../api.ts';
import { type Crew, listed, newExecution, newestFirst, openCrews } from './crew.ts';
import { agentOf } from './registry.ts';

const { newCrew } = await openCrews();
let crew: Crew;
beforeEach(async () => {
  crew = await newCrew();
});

const failing = async () => ({ kind: 'failed', error: 'No.', tokens: 1 }) as const;

/** One execution of the agent that runs, one that has completed and one that has failed. */
async function everyKind(name = 'writer'): Promise<string[]> {
  const ids = [await crew.start({}, name), await crew.start({}, name), await crew.start({}, name)] as const;
  await crew.carryOut(ids[1]);
  await crew.carryOut(ids[2], failing);
  return [...ids];
}

describe('with the answer to the delete of an agent', () => {
  it('its executions are gone from the list of all, and from its totals', async () => {
    await everyKind();
    const others = await everyKind('qa-reviewer');
    expect((await crew.registry.delete('writer')).status).toBe(200);
    expect(listed(await crew.list())).toEqual([newestFirst(...others), 3]);
    for (const [at, status] of ['running', 'completed', 'failed'].entries())
      expect(listed(await crew.list(`status=${status}`))).toEqual([[others[at]], 1]);
    expect(listed(await crew.list('offset=3'))).toEqual([[], 3]);
  });

  it('a filter for its name finds none', async () => {
    await everyKind();
    await crew.registry.delete('writer');
    for (const query of ['agentName=writer', 'agentName=writer&status=running'])
      expect(listed(await crew.list(query))).toEqual([[], 0]);
  });

  it('its own list and each of its executions are 404 not_found', async () => {
    const ids = await everyKind();
    await crew.registry.delete('writer');
    await crew.refuses(() => crew.listOf('writer'), 404, 'not_found');
    for (const id of ids)
      for (const name of ['writer', 'qa-reviewer']) await crew.refuses(() => crew.get(name, id), 404, 'not_found');
  });

  it('a start of it is 404 not_found', async () => {
    await crew.start();
    await crew.registry.delete('writer');
    await crew.refuses(() => crew.execute(newExecution), 404, 'not_found');
  });

  it('an agent that is created again under its name sees nothing of them', async () => {
    const ids = await everyKind();
    await crew.registry.delete('writer');
    const { id } = agentOf(await crew.registry.create());
    expect(id).toMatch(/^ag_/);
    expect(listed(await crew.listOf('writer'))).toEqual([[], 0]);
    for (const one of ids) await crew.refuses(() => crew.get('writer', one), 404, 'not_found');
    const own = await crew.start();
    expect(listed(await crew.listOf('writer'))).toEqual([[own], 1]);
    expect(listed(await crew.list())).toEqual([[own], 1]);
  });

  it('an execution that ends after it comes back nowhere', async () => {
    const id = await crew.start();
    await crew.carryOut(id, async () => {
      if ((await crew.registry.get('writer')).status === 200) await crew.registry.delete('writer');
      return { kind: 'text', text: 'Done.', tokens: 10 };
    });
    await crew.registry.put();
    for (const query of ['', 'status=running', 'status=completed', 'status=failed'])
      expect(listed(await crew.list(query))).toEqual([[], 0]);
    await crew.refuses(() => crew.get('writer', id), 404, 'not_found');
  });

  it("another organization's executions of an agent of its name stand", async () => {
    const other = await newCrew();
    const id = await other.start();
    await crew.start();
    const before = await other.dump();
    await crew.registry.delete('writer');
    expect(await other.dump()).toEqual(before);
    expect((await other.execution(id)).status).toBe('running');
  });
});

it('an agent that cannot be deleted keeps its executions', async () => {
  const id = await crew.start({}, 'qa-reviewer');
  await crew.refuses(() => crew.registry.delete('qa-reviewer'), 403, 'system_agent');
  const headers = { 'If-Match': '"7"' };
  const own = await crew.start();
  await crew.refuses(() => crew.registry.delete('writer', { headers }), 412, 'precondition_failed');
  expect(listed(await crew.list())).toEqual([newestFirst(own, id), 2]);
  expect(dataOf<{ id: string }>(await crew.get('writer', own)).id).toBe(own);
});
