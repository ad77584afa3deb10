import { unmarshall } from '@aws-sdk/util-dynamodb';
import { ulid } from 'ulid';
import { taskFrom } from '../../../lib/table/task-items.ts';
import { taskEvents } from '../../../lib/tasks/events.ts';
import { createTask, listTasks } from '../../../lib/tasks/tasks.ts';
import type { Change } from '../../../lib/webhooks/publish-events.ts';
import { newTask } from '../../table/board.ts';
import { streamed } from '../../table-stream.ts';
import type { Pipeline } from './pipeline.ts';

/** The changes of tasks that the table's stream has of a pipeline's organization, as `publish-events` reads them. */
export async function changesOf({ service, organization }: Pipeline): Promise<Change[]> {
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

/** The board of a pipeline's organization, whose writes faults may strike. */
export function openBoard(pipeline: Pipeline) {
  const context = {
    table: pipeline.faults.table(pipeline.table),
    ulid: () => ulid(pipeline.clock()),
    clock: pipeline.clock,
  };
  return {
    /** Has the API create a task, and tells how that ended. */
    create: () =>
      pipeline.faults.run(() =>
        pipeline.faults.step('write a task', () => createTask(context, pipeline.organization, newTask(), undefined)),
      ),

    /** Expects every task that is on the board to be told of, and answers how many there are. */
    async expectAll(): Promise<number> {
      const { items } = await listTasks(context, pipeline.organization, {}, { limit: 100, offset: 0 });
      for (const { id, title, status, createdAt } of items)
        pipeline.expect({ event: 'task.created', data: { task: { id, title, status }, occurredAt: createdAt } });
      return items.length;
    },
  };
}
