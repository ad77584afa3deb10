import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { DeliveryMessage, SentDelivery } from '../../../lib/deployment/messages.ts';
import { openQueue } from '../../../lib/sqs/queue.ts';
import { openAttemptLog } from '../../../lib/table/attempt-log.ts';
import type { Table } from '../../../lib/table/client.ts';
import { openEventLog } from '../../../lib/table/event-log.ts';
import { openSubscriptions } from '../../../lib/table/subscriptions.ts';
import { type Compared, openVerification } from '../../../lib/webhooks/verification.ts';
import { type DeliveryQueues, deliveryQueues, openWakeUps } from '../../../lib/webhooks/wake-ups.ts';
import { Problem } from '../../local/problem.ts';
import { columns } from '../columns.ts';
import { command, organizationOption, stackOption } from '../command.ts';
import { openTableOf } from '../deployments.ts';
import { withProgress } from '../progress.ts';
import { openQueues, type Queues } from '../queues.ts';
import { organizationsOf } from './organizations.ts';

const verify = command(
  'verify',
  'Compare events with the attempts to deliver them, and send again what was lost',
  'npm run --silent deliveries -- verify --since 2026-11-22T00:00:00Z',
  'npm run --silent deliveries -- verify --since 2026-11-22T00:00:00Z --org acme --stack Crewboard --dry-run',
)
  .description(
    [
      'Compare the events since a moment, and what webhooks hear, with the attempts that were made. An attempt that has waited',
      'for more than 15 minutes is lost, unless the queues hold as many messages as are missing: then they may be among',
      'those, and nothing is sent. What is lost is sent again; a webhook gets no event twice for it unless the message was',
      'not lost, but on its way. It ends with code 1 where attempts are missing and were not sent.',
    ].join(' '),
  )
  .requiredOption('--since <time>', 'the moment, as 2026-11-22T00:00:00Z; events are kept for 90 days', readTime)
  .addOption(organizationOption('one organization (default: all)').makeOptionMandatory(false))
  .option('--dry-run', 'send nothing')
  .addOption(stackOption())
  .action(async ({ since, org, dryRun = false, stack }) => {
    const table = await openTableOf({ stack });
    const organizations = org ? [org] : (await organizationsOf(table)).map(({ organization }) => organization);
    const found = [];
    for (const organization of organizations)
      found.push({ organization, ...(await compared(table, organization, since)) });
    if (found.length === 0) return console.log('There are no organizations.');
    const rows = found.map(({ organization, ...one }) => [
      organization,
      ...[one.events, one.deliveries, one.waiting.length, one.lost.length].map((number) => number.toLocaleString('en')),
    ]);
    console.log(columns([['organization', 'events', 'deliveries', 'waiting', 'lost'], ...rows]));
    const lost = found.flatMap((one) => one.lost);
    if (lost.length > 0) await sendAgain(lost, await openQueues(stack), dryRun);
  });

/** `npm run deliveries`: what operators do about deliveries. */
export const deliveries = command(
  'deliveries',
  'Verify that every event has come to every webhook that hears it',
  'npm run --silent crewboard -- deliveries verify --since 2026-11-22T00:00:00Z',
).addCommand(verify);

function readTime(given: string): number {
  const time = Date.parse(given);
  if (Number.isNaN(time)) throw new InvalidArgumentError('It must be a time such as 2026-11-22T00:00:00Z.');
  if (time > Date.now()) throw new InvalidArgumentError('It must be in the past.');
  return time;
}

function compared(table: Table, organization: Organization, from: number): Promise<Compared> {
  const verification = openVerification({
    events: openEventLog(table),
    attempts: openAttemptLog(table),
    webhooks: openSubscriptions(table),
  });
  const now = Date.now();
  return withProgress(`Comparing ${organization}`, (tell) =>
    verification.compare(organization, { from, to: now, now }, (events) =>
      tell(`${events.toLocaleString('en')} events`),
    ),
  );
}

/** How many messages are sent side by side. */
const sentAtOnce = 1_000;

/** Sends lost messages again, unless the queues may still have them. */
async function sendAgain(lost: readonly DeliveryMessage[], queues: Queues, dryRun: boolean): Promise<void> {
  const held = await heldMessages(queues);
  if (dryRun || held >= lost.length) {
    process.exitCode = 1;
    const why = dryRun
      ? 'Nothing was sent.'
      : `Nothing was sent, because the queues hold ${held} messages that may be these. Run this again when they are empty.`;
    return console.log(why);
  }
  const { sqs, urls } = queues;
  const senders = deliveryQueues.map((name) => [name, openQueue<SentDelivery>(sqs, urls[name])]);
  try {
    const wakeUps = openWakeUps(Object.fromEntries(senders) as DeliveryQueues, Date.now);
    for (let at = 0; at < lost.length; at += sentAtOnce) await wakeUps.send(lost.slice(at, at + sentAtOnce));
  } catch (error) {
    throw new Problem(`Not all could be sent: ${(error as Error).message} Run this again in some minutes.`);
  }
  console.log(`${lost.length.toLocaleString('en')} were sent again.`);
}

/** How many messages wait in the queues of deliveries or are being handled, as SQS estimates. */
async function heldMessages({ sqs, urls }: Queues): Promise<number> {
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
