import { Option } from '@commander-js/extra-typings';
import type { Event } from '../../../lib/client/operations.ts';
import { ExecutionId } from '../../../lib/contract/executions/executions.ts';
import { TaskId } from '../../../lib/contract/tasks/tasks.ts';
import { EventId, eventNames } from '../../../lib/contract/webhooks/events.ts';
import { readBy } from '../command.ts';
import { allOption, apiCommand, apiGroup, limitOption } from './api-command.ts';
import { connect } from './connection.ts';
import { printDetail } from './detail.ts';
import { printCursorPage, readByCursor, type Shape } from './pages.ts';
import { readTime } from './times.ts';

const eventShape: Shape<Event> = {
  columns: {
    id: ({ id }) => id,
    event: ({ event }) => event,
    occurred: ({ occurredAt }) => occurredAt,
    about: ({ data }) => subjectText(data),
  },
  flexible: 'about',
};

const list = apiCommand(
  'list',
  'List the events of the last 90 days, newest first, whether a webhook has got them or not',
  'events list --event task.completed --since 1h',
  'events list --task tk_01K00000000000000000000000 --all --json',
)
  .addOption(new Option('--event <event>', 'only events with this name').choices(eventNames))
  .option('--task <id>', 'only events of this task, and of executions on it', readBy(TaskId))
  .option('--execution <id>', 'only events of this execution', readBy(ExecutionId))
  .option(
    '--since <time>',
    'only events that occurred at this time or later, such as 1h (ago) or 2026-11-22T00:00:00Z',
    readTime,
  )
  .option('--until <time>', 'only events that occurred at this time or earlier', readTime)
  .addOption(limitOption())
  .addOption(allOption())
  .action(async ({ event, task, execution, since, until, ...options }, command) => {
    const client = connect(options, command);
    const filter = { event, task_id: task, execution_id: execution, since, until };
    const page = await readByCursor(options, (query) => client.listEvents({ query: { ...filter, ...query } }));
    printCursorPage(page, 'event', eventShape, options);
  });

const show = apiCommand(
  'show',
  'Show an event, and its deliveries to webhooks',
  'events show ev_01K00000000000000000000000',
)
  .argument('<id>', 'the id of the event', readBy(EventId))
  .action(async (id, options, command) => {
    const { data: event } = await connect(options, command).getEvent({ params: { id } });
    const deliveries = event.deliveries.map(
      ({ webhookId, deliveryId, state, attempts }) => `${webhookId}  ${deliveryId}  ${state} after ${attempts}`,
    );
    const rows = [
      ['id', event.id],
      ['event', event.event],
      ['occurred', event.occurredAt],
      ['deliveries', deliveries.join('\n') || 'none'],
      ['data', JSON.stringify(event.data, null, 2)],
    ] as const;
    printDetail(event, rows, options);
  });

/** Returns the id of the item that an event is about, and what people call it. */
function subjectText(data: Event['data']): string {
  if ('task' in data) return `${data.task.id}  ${data.task.title}`;
  if ('execution' in data) return `${data.execution.id}  ${data.execution.agentName}`;
  return `${data.webhook.id}  ${data.webhook.host}`;
}

/** `crewboard events`: the event log of the organization. */
export const events = apiGroup('events', 'List and show the events of the log', 'events list --since 1h')
  .addCommand(list)
  .addCommand(show);
