import { describe, expect, it } from 'vitest';
import { createAgent, deleteAgent } from '../../../lib/agents/agents.ts';
import { processContext } from '../../../lib/context.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import { detachLimit } from '../../../lib/table/tasks/task-edges.ts';
import type { StoredTask } from '../../../lib/table/tasks/task-items.ts';
import { readTask, readTasks, removeTask } from '../../../lib/table/tasks/tasks.ts';
import { createTask, deleteTask } from '../../../lib/tasks/tasks.ts';
import { always, newTask } from '../../table/tasks/test-table.ts';
import { dumpOf } from '../../table-dump.ts';
import { streamed } from '../../table-stream.ts';
import { allTime, consume, publish, runJob } from './call-functions.ts';
import { createTestPipeline } from './test-pipeline.ts';

const { service, organization, receive } = await createTestPipeline();
const dump = () => dumpOf(service.table, organization);
let published = 0;

/** Publishes the changes of purges that are new in the stream; returns their kinds. */
async function publishPurges(): Promise<(string | undefined)[]> {
  const records = (await streamed(service, 'purge')).slice(published);
  published += records.length;
  expect(await publish(...records)).toEqual([]);
  return records.map(({ eventName }) => eventName);
}

/** Deletes an agent, whose texts are left; returns whether they still are. */
async function deleteOneAgent() {
  const texts = { systemPrompt: 'Write.', soul: 'Calm.', capabilities: [] };
  const agent = { name: 'writer', displayName: 'Writer', category: 'business', status: 'active', ...texts } as const;
  const before = Object.keys(await dump()).length;
  await createAgent(processContext(), organization, agent, undefined);
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
    const isLeft = JSON.stringify(await dump()).includes(id.slice('tk_'.length));
    if (!isLeft) for (const one of dependents) await deleteTask(processContext(), organization, one.id, always);
    return isLeft;
  };
}

describe.each([
  ['agent', deleteOneAgent],
  ['task', deleteTaskAndStop],
])('the remaining items of a deleted %s', (_, deleteOne) => {
  it('are deleted after the change in the stream', async () => {
    const isLeft = await deleteOne();
    await publishPurges();
    const messages = await receive('purges');
    expect([messages.length, await isLeft()]).toEqual([1, true]);
    expect(await consume('purgeAgent', ...messages)).toEqual([]);
    expect(await isLeft()).toBe(false);
  });

  it('are deleted by the one message of a sweep if that change was lost, also if the message comes twice', async () => {
    const isLeft = await deleteOne();
    await runJob('purges', allTime);
    const messages = await receive('purges');
    expect([messages.length, await isLeft()]).toEqual([1, true]);
    expect(await consume('purgeAgent', ...messages, ...messages)).toEqual([]);
    expect(await isLeft()).toBe(false);
    // The sweep changes the purge; this change sends no second message.
    expect(await publishPurges()).toEqual(['INSERT', 'MODIFY']);
    expect(await receive('purges')).toHaveLength(1);
  });
});
