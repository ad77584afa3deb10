import { Option } from '@commander-js/extra-typings';
import type { EventOfWebhook } from '../../../../lib/client/operations.ts';
import { WebhookId } from '../../../../lib/contract/shapes.ts';
import { TaskId } from '../../../../lib/contract/tasks/tasks.ts';
import { eventNames } from '../../../../lib/contract/webhooks/events.ts';
import { DeliveryState } from '../../../../lib/contract/webhooks/webhooks.ts';
import { readBy } from '../../command.ts';
import { allOption, apiCommand, limitOption } from '../api-command.ts';
import { connect } from '../connection.ts';
import { printCursorPage, readByCursor, type Shape } from '../pages.ts';
import { readTime } from '../times.ts';
import { exampleWebhookId } from './webhook-id.ts';

const eventShape: Shape<EventOfWebhook> = {
  columns: {
    occurred: ({ occurredAt }) => occurredAt,
    event: ({ event }) => event,
    state: ({ state }) => state,
    attempts: ({ attempts }) => String(attempts),
    status: ({ httpStatus }) => (httpStatus === 0 ? 'none' : httpStatus?.toString()),
    'next attempt': ({ nextAttemptAt }) => nextAttemptAt,
    delivery: ({ deliveryId }) => deliveryId,
    error: ({ error, hint }) => (hint === 'unsigned' ? `${error} The attempt was not signed.` : error),
  },
  flexible: 'error',
};

/** `crewboard webhooks events`: the events of a webhook, each with the state of its delivery. */
export const webhookEventsCommand = apiCommand(
  'events',
  'List the events of a webhook, newest first, with the states of their deliveries',
  `webhooks events ${exampleWebhookId}`,
  `webhooks events ${exampleWebhookId} --state exhausted --since 1h`,
  `webhooks events ${exampleWebhookId} --all --json`,
)
  .argument('<id>', 'the id of the webhook', readBy(WebhookId))
  .addOption(new Option('--state <state>', 'only events whose delivery has this state').choices(DeliveryState.options))
  .addOption(new Option('--event <event>', 'only events with this name').choices(eventNames))
  .option('--task <id>', 'only events of this task, and of executions on it', readBy(TaskId))
  .option(
    '--since <time>',
    'only events that occurred at this time or later, such as 1h (ago) or 2026-11-22T00:00:00Z',
    readTime,
  )
  .option('--until <time>', 'only events that occurred at this time or earlier', readTime)
  .addOption(limitOption())
  .addOption(allOption())
  .action(async (id, { state, event, task, since, until, ...options }, command) => {
    const client = connect(options, command);
    const filter = { state, event, task_id: task, since, until };
    const page = await readByCursor(options, (query) =>
      client.listWebhookEvents({ params: { id }, query: { ...filter, ...query } }),
    );
    printCursorPage(page, 'event', eventShape, options);
  });
