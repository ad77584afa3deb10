import { describe, expect, it } from 'vitest';
import { handler as publish } from '../../../functions/pipeline/publish-events.ts';
import { handler as purge } from '../../../functions/pipeline/purge-agent.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import { assignSkill, createAgent, deleteAgent } from '../../../lib/agents/agents.ts';
import { processContext } from '../../../lib/context.ts';
import type { NewAgent } from '../../../lib/contract/agents.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import { detachLimit } from '../../../lib/table/tasks/task-edges.ts';
import type { StoredTask } from '../../../lib/table/tasks/task-items.ts';
import { readTask, readTasks, removeTask } from '../../../lib/table/tasks/tasks.ts';
import { createTask } from '../../../lib/tasks/tasks.ts';
import { queueEvent } from '../../queue-event.ts';
import { newTask } from '../../table/tasks/board.ts';
import { dumpOf } from '../../table-dump.ts';
import { streamed } from '../../table-stream.ts';
import { allTime, runJob } from './jobs.ts';
import { openPipeline } from './pipeline.ts';

const { service, organization, receive } = await openPipeline();
const anyVersion = () => {};
const newAgent: Omit<NewAgent, 'name'> = {
  displayName: 'A writer',
  category: 'business',
  systemPrompt: 'Write.',
  soul: 'Calm.',
  capabilities: [],
  status: 'active',
};

/** Creates an agent with texts and a skill, and deletes it: what the organization has without it. */
async function deleteOne(name: string): Promise<Record<string, unknown>> {
  const before = await dumpOf(service.table, organization);
  await createAgent(processContext(), organization, { name, ...newAgent }, undefined);
  const skill = { id: 'sk_one', name: 'one', description: 'One.' };
  await assignSkill(processContext(), organization, name, skill.id, [skill], undefined);
  await deleteAgent(processContext(), organization, name, anyVersion);
  return before;
}

/** Gives changes of purges from the table's stream to the publisher: all from the first `after` on. */
async function publishPurges(after = 0): Promise<void> {
  const records = (await streamed(service, 'purge')).slice(after);
  const { batchItemFailures } = await publish({ Records: records }, contextOf('publish', 60));
  expect(batchItemFailures).toEqual([]);
}

async function carryOut(bodies: string[]): Promise<void> {
  const { batchItemFailures } = await purge(queueEvent(bodies), contextOf('purgeAgent', 60));
  expect(batchItemFailures).toEqual([]);
}

it('the remaining items of a deleted agent are deleted after the change in the stream', async () => {
  const before = await deleteOne('by-the-stream');
  expect(await dumpOf(service.table, organization)).not.toEqual(before);
  await publishPurges();
  const messages = await receive('purges');
  expect(messages).toHaveLength(1);
  await carryOut(messages);
  expect(await dumpOf(service.table, organization)).toEqual(before);
});

it('what is left of a deleted agent goes by the sweep where that was lost', async () => {
  const before = await deleteOne('by-the-sweep');
  await runJob('purges', allTime);
  const messages = await receive('purges');
  expect(messages).toHaveLength(1);
  await carryOut([...messages, ...messages]);
  expect(await dumpOf(service.table, organization)).toEqual(before);
});

it('one sweep sends one message for a purge, and its change of the purge sends none', async () => {
  const published = (await streamed(service, 'purge')).length;
  await deleteOne('swept-and-streamed');
  await runJob('purges', allTime);
  const bySweep = await receive('purges');
  expect(bySweep).toHaveLength(1);
  await publishPurges(published);
  expect(await receive('purges')).toEqual(bySweep);
  const records = (await streamed(service, 'purge')).slice(published);
  expect(records.map(({ eventName }) => eventName)).toEqual(['INSERT', 'MODIFY']);
  await carryOut(bySweep);
});

describe('the dependents of a deleted task, of which there were too many for one transaction', () => {
  /** Puts a task and its dependents, which are done, and deletes it as a request does that is killed right after. */
  async function deleteTaskAndDie(): Promise<string> {
    const { id } = await createTask(processContext(), organization, newTask(), undefined);
    const dependents = Array.from({ length: detachLimit + 1 }, () =>
      createTask(processContext(), organization, newTask({ status: 'done', dependsOn: [id] }), undefined),
    );
    await Promise.all(dependents);
    const task = (await readTask(service, organization, id)) as StoredTask;
    const now = timestamp(processContext().clock());
    const times = { updatedAt: now, purgeDueAt: now };
    const left = await readTasks(service, organization, task.dependents);
    await removeTask(service, organization, task, left, times);
    return id;
  }

  const isNamed = async (id: string) =>
    JSON.stringify(await dumpOf(service.table, organization)).includes(id.slice('tk_'.length));

  it('lose it after the change in the stream', async () => {
    const published = (await streamed(service, 'purge')).length;
    const id = await deleteTaskAndDie();
    await publishPurges(published);
    const messages = await receive('purges');
    expect(messages.map((body) => JSON.parse(body))).toMatchObject([{ organization, taskId: id }]);
    expect(await isNamed(id)).toBe(true);
    await carryOut(messages);
    expect(await isNamed(id)).toBe(false);
  });

  it('lose it by the sweep where that was lost', async () => {
    const id = await deleteTaskAndDie();
    await runJob('purges', allTime);
    const messages = await receive('purges');
    expect(messages).toHaveLength(1);
    await carryOut([...messages, ...messages]);
    expect(await isNamed(id)).toBe(false);
  });
});
