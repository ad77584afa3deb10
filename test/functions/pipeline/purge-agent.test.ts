import { describe, expect, it } from 'vitest';
import { createAgent, deleteAgent } from '../../../lib/agents/agents.ts';
import { processContext } from '../../../lib/context/context.ts';
import { standardConduct } from '../../../lib/contract/agents/standard-conduct.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import { transact } from '../../../lib/table/access/transact.ts';
import type { Item } from '../../../lib/table/access/write.ts';
import { detachLimit } from '../../../lib/table/tasks/task-edges.ts';
import type { StoredTask } from '../../../lib/table/tasks/task-items.ts';
import { readTask, readTasks, removeTask } from '../../../lib/table/tasks/tasks.ts';
import { createTask, deleteTask } from '../../../lib/tasks/tasks.ts';
import { dumpOf, itemsNaming } from '../../table/fixtures/table-dump.ts';
import { always, newTask } from '../../table/tasks/test-table.ts';
import { streamed } from '../../table-stream.ts';
import { allTime, consume, publish, runJob } from './call-functions.ts';
import { createTestPipeline } from './test-pipeline.ts';

const { service, organization } = await createTestPipeline();
const dump = () => dumpOf(service.table, organization) as Promise<Record<string, Item>>;

/** Deletes an agent, whose texts are left; returns whether they still are. */
async function deleteOneAgent() {
  const texts = { systemPrompt: 'Write.', soul: 'Calm.', capabilities: [], ...standardConduct };
  const agent = { name: 'writer', displayName: 'Writer', category: 'business', status: 'active', ...texts } as const;
  const before = Object.keys(await dump()).length;
  await createAgent(processContext(), organization, agent, undefined, []);
  await deleteAgent(processContext(), organization, 'writer', always);
  return async () => Object.keys(await dump()).length > before;
}

/**
 * Deletes a task with more done dependents than one transaction detaches, as a request does whose process is killed after
 * that transaction; returns whether dependents still name the task.
 */
async function deleteTaskAndStop() {
  const { id } = await createTask(processContext(), organization, newTask(), undefined);
  const dependent = newTask({ status: 'done', dependsOn: [id] });
  const put = () => createTask(processContext(), organization, dependent, undefined);
  const dependents = await Promise.all(Array.from({ length: detachLimit + 1 }, put));
  const task = (await readTask(service, organization, id)) as StoredTask;
  const now = timestamp(processContext().clock());
  const left = await readTasks(service, organization, task.dependents);
  await removeTask(service, organization, task, left, { updatedAt: now, purgeDueAt: now });
  return async () => {
    const isLeft = itemsNaming(await dump(), id).length > 0;
    if (!isLeft) for (const one of dependents) await deleteTask(processContext(), organization, one.id, always);
    return isLeft;
  };
}

describe.each([
  ['agent', deleteOneAgent],
  ['task', deleteTaskAndStop],
])('the remaining items of a deleted %s', (_, deleteOne) => {
  it('are deleted by the next call of the schedule, also if it is called twice', async () => {
    const isLeft = await deleteOne();
    expect(await isLeft()).toBe(true);
    await Promise.all([runJob('purges'), runJob('purges')]);
    expect(await isLeft()).toBe(false);
    await runJob('purges', allTime);
  });

  it('are nothing to publish, also if Lambda still sends their changes after an upgrade', async () => {
    await deleteOne();
    const items = await dump();
    const records = await streamed(service, 'purge');
    expect(records.length).toBeGreaterThan(0);
    expect([await publish(...records), await dump()]).toEqual([[], items]);
    await runJob('purges', allTime);
  });
});

it('a purge of an earlier version, whose message is in a queue that the upgrade deletes, is run by the schedule', async () => {
  const isLeft = await deleteOneAgent();
  const [[name = '', { pk, sk }] = ['', {}]] = Object.entries(await dump()).filter(([, { kind }]) => kind === 'purge');
  // The item as version 0.1.0 wrote it, overdue a minute after the deletion.
  const dueAt = timestamp(processContext().clock() + 60_000);
  await transact(service.table, [{ Put: { Item: { pk, sk, kind: 'purge', due: 'purge', dueAt } } }]);
  const message = JSON.stringify({ organization, agentId: `ag_${sk}` });
  await expect(consume('purgeAgent', message)).rejects.toThrow();
  await runJob('purges');
  expect([await isLeft(), name in (await dump())]).toEqual([true, true]);
  await runJob('purges', dueAt);
  expect([await isLeft(), name in (await dump())]).toEqual([false, false]);
});
