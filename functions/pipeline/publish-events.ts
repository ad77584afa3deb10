import { consumeStream } from '../../lib/queue/consume.ts';
import { purgeFrom, purgeKind } from '../../lib/table/purges.ts';
import { taskFrom } from '../../lib/table/task-items.ts';
import { taskEvents } from '../../lib/tasks/events.ts';

export const handler = consumeStream(async ({ organization, before, after }, { deliveries, purges }) => {
  if (!after) return;
  if (after.kind === purgeKind) return purges.wake(purgeFrom(after));
  const task = taskFrom(after);
  const events = taskEvents(before && taskFrom(before), task);
  await deliveries.publish({ organization, item: task.id, version: task.version, events });
});
