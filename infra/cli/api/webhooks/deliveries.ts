import { Option } from '@commander-js/extra-typings';
import { everyItem } from '../../../../lib/client/client.ts';
import type { DeliveryRecord } from '../../../../lib/client/operations.ts';
import { WebhookId } from '../../../../lib/contract/shapes.ts';
import { eventNames } from '../../../../lib/contract/webhooks/events.ts';
import { attemptStatuses } from '../../../../lib/contract/webhooks/webhooks.ts';
import { durationText } from '../../../texts.ts';
import { readBy } from '../../command.ts';
import { allOption, apiCommand, limitOption } from '../api-command.ts';
import { connect } from '../connection.ts';
import { printPage, requestPage, type Shape } from '../pages.ts';
import { readTime } from '../times.ts';
import { exampleWebhookId } from './webhook-id.ts';

const deliveryShape: Shape<DeliveryRecord> = {
  columns: {
    delivered: ({ deliveredAt }) => deliveredAt,
    event: ({ event, test: isTest }) => (isTest ? `${event} (test)` : event),
    attempt: ({ attempt }) => String(attempt),
    status: ({ httpStatus }) => (httpStatus === 0 ? 'none' : String(httpStatus)),
    duration: ({ durationMs }) => durationText(durationMs),
    delivery: ({ deliveryId }) => deliveryId,
    error: ({ error }) => error,
  },
  flexible: 'error',
};

/** `crewboard webhooks deliveries`: lists the attempts to a webhook. */
export const deliveries = apiCommand(
  'deliveries',
  'List the delivery attempts of a webhook, newest first',
  `webhooks deliveries ${exampleWebhookId}`,
  `webhooks deliveries ${exampleWebhookId} --status failed --since 1h`,
  `webhooks deliveries ${exampleWebhookId} --all --json`,
)
  .description(
    [
      'List the delivery attempts of a webhook, newest first. With filters, the newest 10,000 attempts are searched; with',
      '--since all attempts from that time on, at most 10,000.',
    ].join(' '),
  )
  .argument('<id>', 'the id of the webhook', readBy(WebhookId))
  .addOption(new Option('--status <status>', 'only attempts with this result').choices(attemptStatuses))
  .addOption(new Option('--event <event>', 'only attempts to deliver this event').choices(eventNames))
  .option(
    '--since <time>',
    'only attempts that ended at this time or later, such as 1h (ago) or 2026-11-22T00:00:00Z',
    readTime,
  )
  .option('--until <time>', 'only attempts that ended at this time or earlier', readTime)
  .addOption(limitOption())
  .addOption(allOption())
  .action(async (id, { status, event, since, until, ...options }, command) => {
    const client = connect(options, command);
    const query = { status, event, since, until };
    const page = await requestPage(
      options,
      (limit) => client.listDeliveries({ params: { id }, query: { ...query, limit } }),
      () => everyItem(client.listDeliveries, { params: { id }, query }),
    );
    printPage(page, 'attempt', deliveryShape, options);
  });
