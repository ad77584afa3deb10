import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { createQueueSender } from '../../../lib/aws/queue.ts';
import type { Context } from '../../../lib/context/context.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { readRetrySchedule } from '../../../lib/settings/retry-schedule.ts';
import { deliveryQueues, sendAttemptMessages } from '../../../lib/webhooks/attempts/attempt-messages.ts';
import { type ComparedDeliveries, compareDeliveries } from '../../../lib/webhooks/deliveries/compare-deliveries.ts';
import type { Terminal } from '../../local/commands/messages.ts';
import type { QueueClient } from '../../local/queues/queue-client.ts';
import { Problem } from '../../problem.ts';
import { columns } from '../columns.ts';
import { command, jsonOption, organizationOption, stackOption } from '../command.ts';
import { printJson } from '../json.ts';
import { operate } from '../operation.ts';
import { withProgress } from '../progress.ts';
import { exitCodes } from '../run-program.ts';
import { organizationsOf } from './organizations.ts';

const verify = command(
  'verify',
  'Compare events with their delivery attempts, and send lost messages again',
  'npm run --silent crewboard -- deliveries verify --since 2026-11-22T00:00:00Z',
  'npm run --silent crewboard -- deliveries verify --since 2026-11-22T00:00:00Z --org acme --stack Crewboard --dry-run',
)
  .description(
    [
      'Compare the events since a time, and the webhooks that subscribe to them, with the delivery attempts. An attempt',
      'that is overdue by more than 15 minutes is lost, and its message is sent again. If the queues contain as many',
      'messages as are missing, nothing is sent, because the missing messages may be among them. A webhook receives an event',
      'twice only if its message was not lost, but late. The exit code is 1 if attempts are missing and were not sent.',
    ].join(' '),
  )
  .requiredOption('--since <time>', 'the time, such as 2026-11-22T00:00:00Z; events are kept for 90 days', readTime)
  .addOption(organizationOption('one organization (default: all)').makeOptionMandatory(false))
  .option('--dry-run', 'compare only, and send nothing')
  .addOption(stackOption())
  .addOption(jsonOption())
  .action(
    operate(async ({ terminal, createContext, findTargets }, { since, org, dryRun = false, json }) => {
      const context = await createContext();
      const organizations = org
        ? [org]
        : (await organizationsOf(context, terminal)).map(({ organization }) => organization);
      const found = [];
      for (const organization of organizations)
        found.push({ organization, ...(await compared(context, terminal, organization, since)) });
      const counts = found.map(({ organization, events, deliveries: operatorDeliveries, waiting, lost }) => ({
        ...{ organization, events, deliveries: operatorDeliveries },
        waiting: waiting.length,
        lost: lost.length,
      }));
      if (json) printJson({ data: counts }, terminal.print);
      else terminal.print(countsText(counts));
      const lost = found.flatMap((one) => one.lost);
      if (lost.length === 0) return;
      const { sent, text } = dryRun
        ? { sent: false, text: 'Nothing was sent.' }
        : await sendAgain(terminal, lost, await findTargets());
      if (!sent) terminal.exit(exitCodes.failed);
      // Standard output is JSON only.
      if (json) terminal.printError(text);
      else terminal.print(text);
    }),
  );

/** `npm run crewboard -- deliveries`: checks that no delivery is missing. */
export const operatorDeliveries = command(
  'deliveries',
  'Verify that every event was delivered to every webhook that subscribes to it',
  'npm run --silent crewboard -- deliveries verify --since 2026-11-22T00:00:00Z',
).addCommand(verify);

function readTime(given: string): number {
  const time = Date.parse(given);
  if (Number.isNaN(time)) throw new InvalidArgumentError('It must be a time such as 2026-11-22T00:00:00Z.');
  if (time > Date.now()) throw new InvalidArgumentError('It must be in the past.');
  return time;
}

function compared(
  { table, batchers, clock }: Context,
  terminal: Terminal,
  organization: Organization,
  from: number,
): Promise<ComparedDeliveries> {
  const now = clock();
  return withProgress(terminal, `Comparing ${organization}`, (report) =>
    compareDeliveries({ table, batchers }, organization, { from, to: now, now }, (events) =>
      report(`${events.toLocaleString('en')} events`),
    ),
  );
}

/** The numbers of an organization: its events, its deliveries, and the attempts that wait or are lost. */
type Counts = { organization: string; events: number; deliveries: number; waiting: number; lost: number };

function countsText(counts: readonly Counts[]): string {
  if (counts.length === 0) return 'There are no organizations.';
  const rows = counts.map(({ organization, ...numbers }) => [
    organization,
    ...Object.values(numbers).map((number) => number.toLocaleString('en')),
  ]);
  return columns([['organization', 'events', 'deliveries', 'waiting', 'lost'], ...rows]);
}

/** How many messages are sent concurrently. */
const sentAtOnce = 1_000;

/** Sends lost messages again, unless they may still be in the queues. Returns a sentence about what was sent. */
async function sendAgain(
  terminal: Terminal,
  lost: readonly DeliveryMessage[],
  queues: QueueClient,
): Promise<{ sent: boolean; text: string }> {
  const queued = await countQueued(queues);
  if (queued >= lost.length)
    return {
      sent: false,
      text: `Nothing was sent, because the missing messages may be among the ${queued} messages in the queues. Run this command again when the queues are empty.`,
    };
  const { sqs, urls } = queues;
  const senders = new Map(deliveryQueues.map((name) => [name, createQueueSender(sqs, urls[name])]));
  const retrySchedule = readRetrySchedule(undefined);
  const context = { variables: {}, queues: senders, clients: {}, clock: Date.now, retrySchedule };
  try {
    await withProgress(terminal, 'Sending', async (report) => {
      for (let at = 0; at < lost.length; at += sentAtOnce) {
        await sendAttemptMessages(context, lost.slice(at, at + sentAtOnce));
        report(`${Math.min(at + sentAtOnce, lost.length)} of ${lost.length} sent`);
      }
    });
  } catch (error) {
    throw new Problem(
      `Not all messages were sent: ${(error as Error).message} Run this command again in a few minutes.`,
    );
  }
  return { sent: true, text: `${lost.length.toLocaleString('en')} sent again.` };
}

/** Returns the number of messages in the queues of deliveries, including messages that are being handled, as SQS estimates it. */
async function countQueued({ sqs, urls }: QueueClient): Promise<number> {
  const counted = await Promise.all(
    deliveryQueues.map(async (name) => {
      const AttributeNames = [
        'ApproximateNumberOfMessages',
        'ApproximateNumberOfMessagesNotVisible',
        'ApproximateNumberOfMessagesDelayed',
      ] as const;
      const request = new GetQueueAttributesCommand({ QueueUrl: urls[name], AttributeNames: [...AttributeNames] });
      const { Attributes = {} } = await sqs.send(request);
      return AttributeNames.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0);
    }),
  );
  return counted.reduce((sum, one) => sum + one, 0);
}
