import { unmarshall } from '@aws-sdk/util-dynamodb';
import { ulid } from 'ulid';
import { describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../../lib/contract/events.ts';
import { taskFrom } from '../../../lib/table/task-items.ts';
import { openTaskStore } from '../../../lib/table/tasks.ts';
import { taskEvents } from '../../../lib/tasks/events.ts';
import { openTasks } from '../../../lib/tasks/tasks.ts';
import type { Change } from '../../../lib/webhooks/deliveries.ts';
import { newTask } from '../../table/board.ts';
import { streamed } from '../../table-stream.ts';
import type { Fault } from './faults.ts';
import { type Line, openLines } from './line.ts';

const newLine = await openLines();

/** The changes of tasks that the table's stream has of a line's organization, as `publish-events` reads them. */
async function changesOf({ service, organization }: Line): Promise<Change[]> {
  const records = await streamed(service, 'task');
  return records.flatMap(({ dynamodb: { OldImage, NewImage } = {} }) => {
    const [before, after] = [OldImage, NewImage].map((image) => image && unmarshall(image as never));
    if (!after || !String(after.pk).startsWith(`O#${organization}#`)) return [];
    const task = taskFrom(after);
    return [
      { organization, item: task.id, version: task.version, events: taskEvents(before && taskFrom(before), task) },
    ];
  });
}

/** A line with a webhook, and the board of its organization, whose writes faults may strike. */
async function lineWithBoard() {
  const line = newLine();
  await line.register();
  const store = openTaskStore(line.faults.table(line.table));
  const tasks = openTasks(store, () => ulid(line.clock()), line.clock);
  const create = () =>
    line.faults.run(() =>
      line.faults.step('write a task', () => tasks.create(line.organization, newTask(), undefined)),
    );
  return { line, tasks, create };
}

describe('a task', () => {
  it.each<[string, Fault, number]>([
    ['is told of where the API dies once it is written', { at: 'write a task', when: 'after', how: 'dies' }, 1],
    ['is told of where the API is not told that it is written', { at: 'write a task', when: 'after', how: 'fails' }, 1],
    ['that was never written is told to nobody', { at: 'write a task', when: 'before', how: 'dies' }, 0],
  ])('%s', async (_, fault, told) => {
    const { line, tasks, create } = await lineWithBoard();
    line.faults.plan(fault);
    expect(await create()).toBe(fault.how === 'dies' ? 'dead' : 'failed');
    const { items } = await tasks.list(line.organization, {}, { limit: 100, offset: 0 });
    expect(items).toHaveLength(told);
    for (const { id, title, status, createdAt } of items)
      line.expect({ event: 'task.created', data: { task: { id, title, status }, occurredAt: createdAt } });
    line.put(...(await changesOf(line)));
    expect(await line.rest()).toMatchObject({ wrong: [] });
    expect(line.posts).toHaveLength(told);
  });

  it('is told of where the reader of the stream dies between the read and the send, and reads again', async () => {
    const { line, create } = await lineWithBoard();
    for (let more = 0; more < 3; more++) await create();
    const changes = await changesOf(line);
    for (const { events } of changes) for (const event of events) line.expect(event as TaskEvent);
    line.faults.plan({ at: 'send', when: 'before', how: 'dies', after: 1 });
    line.put(...changes);
    expect(await line.rest()).toEqual({ wrong: [], ends: { delivered: 3 }, latestMs: 1_000 });
    expect(line.posts).toHaveLength(3);
  });
});
