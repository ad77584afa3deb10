import { Option } from '@commander-js/extra-typings';
import { everyItem } from '../../../../lib/client/client.ts';
import type { DeliveryRecord, Webhook } from '../../../../lib/client/operations.ts';
import { type EventName, eventNames } from '../../../../lib/contract/events.ts';
import {
  type MissedKind,
  missedKinds,
  type Recovery,
  RecoveryId,
  recoveryRates,
  usualKinds,
} from '../../../../lib/contract/recoveries.ts';
import { SentTime, WebhookId } from '../../../../lib/contract/shapes.ts';
import { attemptStatuses, maxPerSecondLimit } from '../../../../lib/contract/webhooks.ts';
import { durationText } from '../../../texts.ts';
import { readBy, wholeNumber } from '../../command.ts';
import { printJson } from '../../json.ts';
import { exitCodes } from '../../run-program.ts';
import { allOption, apiCommand, apiGroup, limitOption } from '../api-command.ts';
import { type ConnectionOptions, connect, type Reporter } from '../connection.ts';
import { printDetail } from '../detail.ts';
import { readEvents, readKinds } from '../names.ts';
import { printPage, readPage, type Shape } from '../pages.ts';
import { delivery } from './delivery.ts';
import { followRecovery } from './follow-recovery.ts';
import { webhookEvents } from './webhook-events.ts';

const readTime = readBy(SentTime);
const readMaximum = wholeNumber(maxPerSecondLimit);

const exampleId = 'wh_01K00000000000000000000000';

const webhookShape: Shape<Webhook> = {
  columns: {
    id: ({ id }) => id,
    active: ({ active }) => (active ? 'yes' : 'no'),
    'last delivery': ({ lastDeliveryAt }) => lastDeliveryAt ?? 'never',
    events: ({ events }) => (events.length === eventNames.length ? 'all' : events.join(',')),
    url: ({ url }) => url,
  },
  flexible: 'url',
};

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

const list = apiCommand('list', 'List webhooks, newest first', 'webhooks list', 'webhooks list --json').action(
  async (options, command) => {
    const { data } = await connect(options, command).listWebhooks();
    if (options.json) return printJson({ data });
    printPage({ data, pagination: { limit: data.length, offset: 0, total: data.length } }, 'webhook', webhookShape, {});
  },
);

const add = apiCommand(
  'add',
  'Register a webhook and print its id',
  'webhooks add https://example.com/crewboard',
  'webhooks add http://127.0.0.1:8080/crewboard --events task.created,agent.completed',
)
  .argument('<url>', 'the URL of the receiver')
  .addOption(
    new Option('--events <list>', `the events, separated by commas: ${eventNames.join(', ')}`)
      .argParser(readEvents)
      .default([...eventNames] as EventName[], 'all events'),
  )
  .option('--project <id>', 'send only events of tasks of this project')
  .option('--agent <name>', 'send only events of tasks that are assigned to this agent')
  .option('--max-per-second <number>', 'make at most this number of attempts in a second', readMaximum)
  .option('--auto-recover', 'recover missed events without a request')
  .addOption(
    new Option('--secret <secret>', 'the secret that signs deliveries; the variable is safer').env('WEBHOOK_SECRET'),
  )
  .action(async (url, { events, secret, project, agent, maxPerSecond, autoRecover, ...options }, command) => {
    const taskFilter = filterOf(project, agent) ?? undefined;
    const { data } = await connect(options, command).registerWebhook({
      body: { url, events, taskFilter, maxPerSecond, autoRecover, secret },
    });
    if (!secret) console.error('Deliveries are not signed, because the webhook has no secret.');
    if (options.json) return printJson({ data });
    console.log(data.id);
  });

/** Returns the filter of options; `null` if they are all empty, and `undefined` if there are none. */
function filterOf(project: string | undefined, agent: string | undefined) {
  if (project === undefined && agent === undefined) return undefined;
  if (!project && !agent) return null;
  return { ...(project && { projectId: project }), ...(agent && { assignedAgent: agent }) };
}

const edit = apiCommand(
  'edit',
  'Change the URL, the events, the description, the filter, the maximum or the recovery of a webhook',
  `webhooks edit ${exampleId} https://example.com/crewboard`,
  `webhooks edit ${exampleId} --events task.created --description ''`,
  `webhooks edit ${exampleId} --project proj_website`,
)
  .argument('<id>', 'the id of the webhook', readBy(WebhookId))
  .argument('[url]', 'the new URL of the receiver; waiting retries go to it too')
  .addOption(
    new Option('--events <list>', `all events, separated by commas: ${eventNames.join(', ')}`).argParser(readEvents),
  )
  .option('--description <text>', 'the purpose of the webhook; an empty text removes it')
  .option('--project <id>', 'send only events of tasks of this project; --project and --agent replace the whole filter')
  .option('--agent <name>', "send only events of tasks that are assigned to this agent; --agent '' removes the filter")
  .option('--max-per-second <number>', "make at most this number of attempts in a second; '' removes it", (text) =>
    text === '' ? 0 : readMaximum(text),
  )
  .addOption(
    new Option('--auto-recover <yes|no>', 'whether missed events are recovered without a request').choices([
      'yes',
      'no',
    ] as const),
  )
  .action(async (id, url, { events, description, project, agent, maxPerSecond, autoRecover, ...options }, command) => {
    const taskFilter = filterOf(project, agent);
    const named = [url, events, description, taskFilter, maxPerSecond, autoRecover].some(
      (value) => value !== undefined,
    );
    if (!named)
      command.error(
        'error: Name a change: a URL, --events, --description, --project, --agent, --max-per-second or --auto-recover.',
      );
    const cleared = {
      description: description === '' ? null : description,
      maxPerSecond: maxPerSecond === 0 ? null : maxPerSecond,
    };
    const body = { url, events, taskFilter, ...cleared, autoRecover: autoRecover && autoRecover === 'yes' };
    const { data: webhook } = await connect(options, command).updateWebhook({ params: { id }, body });
    const rows = [
      ['id', webhook.id],
      ['url', webhook.url],
      ['events', webhook.events.join(',')],
      ['description', webhook.description],
      ['project', webhook.taskFilter?.projectId],
      ['agent', webhook.taskFilter?.assignedAgent],
      ['maximum a second', webhook.maxPerSecond?.toString()],
      ['recovers by itself', webhook.autoRecover ? 'yes' : 'no'],
    ] as const;
    printDetail(webhook, rows, options);
  });

const pause = apiCommand('pause', 'Pause a webhook: nothing is sent to it', `webhooks pause ${exampleId}`)
  .description('Pause a webhook. Events of the pause are never sent to it; retries wait until it is resumed.')
  .argument('<id>', 'the id of the webhook', readBy(WebhookId))
  .action((id, options, command) => setActive(id, false, options, command));

const resume = apiCommand('resume', 'Resume a paused webhook', `webhooks resume ${exampleId}`)
  .description('Resume a paused webhook. Retries that waited are sent right away.')
  .argument('<id>', 'the id of the webhook', readBy(WebhookId))
  .action((id, options, command) => setActive(id, true, options, command));

/** Pauses or resumes a webhook and shows it. */
async function setActive(
  id: string,
  active: boolean,
  options: ConnectionOptions & { json?: true | undefined },
  command: Reporter,
): Promise<void> {
  const { data: webhook } = await connect(options, command).updateWebhook({ params: { id }, body: { active } });
  const rows = [
    ['id', webhook.id],
    ['active', webhook.active ? 'yes' : 'no'],
    ['url', webhook.url],
  ] as const;
  printDetail(webhook, rows, options);
}

const test = apiCommand(
  'test',
  'Send a test event to a webhook',
  `webhooks test ${exampleId}`,
  `webhooks test ${exampleId} --event agent.completed`,
)
  .description(
    'Send a test event to a webhook, once, and show what the receiver responds. The exit code is 1 if the attempt fails.',
  )
  .argument('<id>', 'the id of the webhook', readBy(WebhookId))
  .addOption(new Option('--event <event>', 'the event').choices(eventNames).default('task.created' as const))
  .action(async (id, { event, ...options }, command) => {
    const { data: result } = await connect(options, command).testWebhook({ params: { id }, body: { event } });
    if (result.error !== undefined) process.exitCode = exitCodes.failed;
    const rows = [
      ['event', event],
      ['delivery', result.deliveryId],
      ['status', result.httpStatus === 0 ? 'no response' : String(result.httpStatus)],
      ['error', result.error],
      ['duration', durationText(result.durationMs)],
      ['response', result.responseBody],
    ] as const;
    printDetail(result, rows, options);
  });

const deliveries = apiCommand(
  'deliveries',
  'List the delivery attempts of a webhook, newest first',
  `webhooks deliveries ${exampleId}`,
  `webhooks deliveries ${exampleId} --status failed --since 2026-11-22T00:00:00Z`,
  `webhooks deliveries ${exampleId} --all --json`,
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
  .option('--since <time>', 'only attempts that ended at this time or later, such as 2026-11-22T00:00:00Z', readTime)
  .option('--until <time>', 'only attempts that ended at this time or earlier', readTime)
  .addOption(limitOption())
  .addOption(allOption())
  .action(async (id, { status, event, since, until, ...options }, command) => {
    const client = connect(options, command);
    const query = { status, event, since, until };
    const page = await readPage(
      options,
      (limit) => client.listDeliveries({ params: { id }, query: { ...query, limit } }),
      () => everyItem(client.listDeliveries, { params: { id }, query }),
    );
    printPage(page, 'attempt', deliveryShape, options);
  });

const recover = apiCommand(
  'recover',
  'Send the events that a webhook has missed, and show the progress',
  `webhooks recover ${exampleId} --since 2026-11-22T00:00:00Z --dry-run`,
  `webhooks recover ${exampleId} --since 2026-11-22T00:00:00Z --include exhausted`,
)
  .description(
    [
      'Send the events of a time range that a webhook has missed, oldest first, and show the progress. The recovery continues',
      'if this command is stopped; `webhooks cancel-recovery` ends it. The exit code is 1 if an attempt fails; it is retried.',
    ].join(' '),
  )
  .argument('<id>', 'the id of the webhook', readBy(WebhookId))
  .requiredOption('--since <time>', 'the time of the first event, such as 2026-11-22T00:00:00Z', readTime)
  .option('--until <time>', 'the time of the last event (default: now)', readTime)
  .addOption(new Option('--events <list>', 'only these events, separated by commas').argParser(readEvents))
  .addOption(
    new Option('--include <list>', `the kinds of events, separated by commas: ${missedKinds.join(', ')}`)
      .argParser(readKinds)
      .default([...usualKinds] as MissedKind[], usualKinds.join(', ')),
  )
  .option('--rate <number>', 'the maximum number of events in a second', wholeNumber(recoveryRates.most))
  .option('--dry-run', 'only count the events')
  .action(async (id, { since, until, events, include, rate, dryRun, ...options }, command) => {
    const client = connect(options, command);
    const body = { since, until, events, include, ratePerSecond: rate, dryRun };
    const { data: started } = await client.recoverWebhook({ params: { id }, body });
    const { matched, matchedByKind, leftOut, recoveryId } = started;
    if (recoveryId === undefined) {
      if (options.json) return printJson({ data: started });
      const counted = countedText({ ...matchedByKind, ...leftOut });
      return console.log(
        `${matched} ${matched === 1 ? 'event' : 'events'} ${dryRun ? 'would be' : 'are'} sent.${counted && ` Of the range: ${counted}.`}`,
      );
    }
    const recovery = await followRecovery(client, { id, recoveryId });
    if (recovery.failed > 0 || recovery.state === 'cancelled') process.exitCode = exitCodes.failed;
    printRecovery(recovery, options);
  });

/** Returns the numbers that are not 0, each with its name. */
const countedText = (numbers: Record<string, number>) =>
  Object.entries(numbers)
    .filter(([, number]) => number > 0)
    .map(([name, number]) => `${number} ${name}`)
    .join(', ');

function printRecovery(recovery: Recovery, options: { json?: true | undefined }): void {
  const rows = [
    ['recovery', recovery.id],
    ['state', recovery.state],
    ['matched', String(recovery.matched)],
    ['sent', String(recovery.sent)],
    ['delivered', String(recovery.delivered)],
    ['failed', String(recovery.failed)],
  ] as const;
  printDetail(recovery, rows, options);
}

const recoveryShape: Shape<Recovery> = {
  columns: {
    id: ({ id }) => id,
    state: ({ state }) => state,
    since: ({ since }) => since,
    until: ({ until }) => until,
    matched: ({ matched }) => String(matched),
    delivered: ({ delivered }) => String(delivered),
    failed: ({ failed }) => String(failed),
  },
  flexible: 'until',
};

const recoveries = apiCommand(
  'recoveries',
  'List the recoveries of a webhook, newest first',
  `webhooks recoveries ${exampleId}`,
)
  .argument('<id>', 'the id of the webhook', readBy(WebhookId))
  .addOption(limitOption())
  .addOption(allOption())
  .action(async (id, options, command) => {
    const client = connect(options, command);
    const page = await readPage(
      options,
      (limit) => client.listRecoveries({ params: { id }, query: { limit } }),
      () => everyItem(client.listRecoveries, { params: { id } }),
    );
    printPage(page, 'recovery', recoveryShape, options);
  });

const cancelRecovery = apiCommand(
  'cancel-recovery',
  'Stop a recovery: no further attempt of it is made',
  `webhooks cancel-recovery ${exampleId} rc_01K00000000000000000000000`,
)
  .argument('<id>', 'the id of the webhook', readBy(WebhookId))
  .argument('<recovery>', 'the id of the recovery', readBy(RecoveryId))
  .action(async (id, recoveryId, options, command) => {
    const { data } = await connect(options, command).cancelRecovery({ params: { id, recoveryId } });
    printRecovery(data, options);
  });

/** `crewboard webhooks`: the webhooks of the organization. */
export const webhooks = apiGroup(
  'webhooks',
  'List, register, change and test webhooks, list their events, and send missed events again',
  'webhooks list',
)
  .addCommand(list)
  .addCommand(add)
  .addCommand(edit)
  .addCommand(pause)
  .addCommand(resume)
  .addCommand(test)
  .addCommand(webhookEvents)
  .addCommand(deliveries)
  .addCommand(delivery)
  .addCommand(recover)
  .addCommand(recoveries)
  .addCommand(cancelRecovery);
