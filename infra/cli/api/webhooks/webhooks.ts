import { Option } from '@commander-js/extra-typings';
import type { AttemptHour, Webhook } from '../../../../lib/client/operations.ts';
import { WebhookId } from '../../../../lib/contract/shapes.ts';
import { type EventName, eventNames } from '../../../../lib/contract/webhooks/events.ts';
import { maxPerSecondLimit } from '../../../../lib/contract/webhooks/webhooks.ts';
import { durationText } from '../../../texts.ts';
import { readBy, wholeNumber } from '../../command.ts';
import { printJson } from '../../json.ts';
import { exitCodes } from '../../run-program.ts';
import { apiCommand, apiGroup } from '../api-command.ts';
import { confirmDeletion, printDeleted, yesOption } from '../confirmation.ts';
import { type ConnectionOptions, connect, type Reporter } from '../connection.ts';
import { printDetail } from '../detail.ts';
import { readEventNames } from '../names.ts';
import { printList, type Shape } from '../pages.ts';
import { secretOption } from '../secrets.ts';
import { deliveries } from './deliveries.ts';
import { delivery, redeliver } from './delivery.ts';
import { cancelRecoveryCommand, recover, recoveries } from './recover.ts';
import { rotateSecret } from './rotate-secret.ts';
import { webhookEventsCommand } from './webhook-events.ts';
import { exampleWebhookId } from './webhook-id.ts';

const readMaximum = wholeNumber(maxPerSecondLimit);

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

const list = apiCommand('list', 'List webhooks, newest first', 'webhooks list', 'webhooks list --json').action(
  async (options, command) => {
    const { data } = await connect(options, command).listWebhooks();
    printList(data, 'webhook', webhookShape, options);
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
      .argParser(readEventNames)
      .default([...eventNames] as EventName[], 'all events'),
  )
  .option('--project <id>', 'send only events of tasks of this project')
  .option('--agent <name>', 'send only events of tasks that are assigned to this agent')
  .option('--max-per-second <number>', 'make at most this number of attempts in a second', readMaximum)
  .option('--auto-recover', 'recover missed events without a request')
  .addOption(secretOption('the secret that signs deliveries'))
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
  `webhooks edit ${exampleWebhookId} https://example.com/crewboard`,
  `webhooks edit ${exampleWebhookId} --events task.created --description ''`,
  `webhooks edit ${exampleWebhookId} --project proj_website`,
)
  .argument('<id>', 'the id of the webhook', readBy(WebhookId))
  .argument('[url]', 'the new URL of the receiver; waiting retries go to it too')
  .addOption(
    new Option('--events <list>', `all events, separated by commas: ${eventNames.join(', ')}`).argParser(
      readEventNames,
    ),
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
    printDetail(webhook, rowsOf(webhook), options);
  });

const show = apiCommand(
  'show',
  'Show a webhook, and whether its deliveries arrive',
  `webhooks show ${exampleWebhookId}`,
  `webhooks show ${exampleWebhookId} --hours`,
)
  .argument('<id>', 'the id of the webhook', readBy(WebhookId))
  .option('--hours', 'also the number of attempts in each of the last 24 hours')
  .action(async (id, { hours, ...options }, command) => {
    const query = { include: hours && ('hours' as const) };
    const { data: webhook } = await connect(options, command).getWebhook({ params: { id }, query });
    const rows = [
      ...rowsOf(webhook),
      ['active', activeText(webhook)],
      ['signed', signedText(webhook)],
      ['last delivery', webhook.lastDeliveryAt ?? 'never'],
      ['last success', webhook.lastSuccessAt],
      ['last failure', webhook.lastFailureAt],
      ['failing since', webhook.failingSince],
      ['created', webhook.createdAt],
    ] as const;
    printDetail(webhook, rows, options);
    if (!hours || options.json) return;
    console.log('');
    printList(webhook.hours ?? [], 'hour', hourShape, {});
  });

const hourShape: Shape<AttemptHour> = {
  columns: {
    hour: ({ startsAt }) => startsAt,
    '2xx': ({ status2xx }) => String(status2xx),
    '3xx': ({ status3xx }) => String(status3xx),
    '4xx': ({ status4xx }) => String(status4xx),
    '5xx': ({ status5xx }) => String(status5xx),
    'no response': ({ noResponse }) => String(noResponse),
  },
  flexible: 'hour',
};

/** Returns the fields of a webhook that can change, as labels and values. */
function rowsOf(webhook: Webhook) {
  return [
    ['id', webhook.id],
    ['url', webhook.url],
    ['events', webhook.events.join(',')],
    ['description', webhook.description],
    ['project', webhook.taskFilter?.projectId],
    ['agent', webhook.taskFilter?.assignedAgent],
    ['maximum a second', webhook.maxPerSecond?.toString()],
    ['recovers by itself', webhook.autoRecover ? 'yes' : 'no'],
  ] as const;
}

function activeText({ active, disabledReason, disabledAt }: Webhook): string {
  if (active) return 'yes';
  return disabledReason ? `no: the service paused it at ${disabledAt}, because all deliveries failed` : 'no';
}

function signedText({ signed, secretChangedAt }: Webhook): string {
  if (!signed) return 'no: it has no secret';
  return secretChangedAt ? `yes, with the secret of ${secretChangedAt}` : 'yes';
}

const remove = apiCommand(
  'delete',
  'Delete a webhook',
  `webhooks delete ${exampleWebhookId}`,
  `webhooks delete ${exampleWebhookId} --yes`,
)
  .description('Delete a webhook with its history. Its scheduled retries are not sent.')
  .argument('<id>', 'the id of the webhook', readBy(WebhookId))
  .addOption(yesOption())
  .action(async (id, { yes, ...options }, command) => {
    const client = connect(options, command);
    await confirmDeletion({ yes }, command, async () => {
      const { data: webhook } = await client.getWebhook({ params: { id } });
      return `the webhook ${id} to ${webhook.url}`;
    });
    await client.deleteWebhook({ params: { id } });
    printDeleted(`the webhook ${id}`, { id }, options);
  });

const pause = apiCommand('pause', 'Pause a webhook: nothing is sent to it', `webhooks pause ${exampleWebhookId}`)
  .description('Pause a webhook. Events of the pause are never sent to it; retries wait until it is resumed.')
  .argument('<id>', 'the id of the webhook', readBy(WebhookId))
  .action((id, options, command) => setActive(id, false, options, command));

const resume = apiCommand('resume', 'Resume a paused webhook', `webhooks resume ${exampleWebhookId}`)
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
  `webhooks test ${exampleWebhookId}`,
  `webhooks test ${exampleWebhookId} --event agent.completed`,
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

/** `crewboard webhooks`: the webhooks of the organization. */
export const webhooks = apiGroup(
  'webhooks',
  'List, show, register, change, test and delete webhooks, list their events, and send events again',
  'webhooks list',
)
  .addCommand(list)
  .addCommand(add)
  .addCommand(show)
  .addCommand(edit)
  .addCommand(rotateSecret)
  .addCommand(pause)
  .addCommand(resume)
  .addCommand(test)
  .addCommand(webhookEventsCommand)
  .addCommand(deliveries)
  .addCommand(delivery)
  .addCommand(redeliver)
  .addCommand(recover)
  .addCommand(recoveries)
  .addCommand(cancelRecoveryCommand)
  .addCommand(remove);
