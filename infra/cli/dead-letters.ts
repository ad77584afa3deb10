import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { Argument } from '@commander-js/extra-typings';
import { type QueueName, queues } from '../../lib/contract/deployment.ts';
import { timestamp } from '../../lib/contract/ids.ts';
import { columns } from './columns.ts';
import { command, stackOption, wholeNumber } from './command.ts';
import { type DeadLetters, openDeadLetters } from './dead-letter-queues.ts';
import { hold, release } from './held-messages.ts';
import { withProgress } from './progress.ts';
import { redriveChanges } from './redrive-changes.ts';
import type { QueueUrls } from './stack.ts';

/** While they are shown, seconds: nobody else handles dead letters but another operator. */
const shownSeconds = 30;

const list = command(
  'list',
  'Show how many dead letters each queue has',
  'npm run --silent dead-letters -- list',
  'npm run --silent dead-letters -- list --stack Crewboard',
)
  .addOption(stackOption())
  .action(async ({ stack }) => {
    const { sqs, queues: all } = await openDeadLetters(stack);
    const rows = await Promise.all(
      all.map(async ({ queue, deadUrl }) => [queue, String((await attributesOf(sqs, deadUrl)).number)]),
    );
    console.log(columns([['queue', 'dead letters'], ...rows]));
  });

const show = command(
  'show',
  'Show the dead letters of a queue, oldest first, and leave them where they are',
  'npm run --silent dead-letters -- show deliveries --limit 3',
)
  .addArgument(queueArgument())
  .option('--limit <number>', 'how many at most, 1 to 9999', wholeNumber(9999), 10)
  .addOption(stackOption())
  .action(async (name, { stack, limit }) => {
    const { sqs, deadUrl } = await openQueue(stack, name);
    const held = await withProgress(`Reading ${name}`, (tell) =>
      hold(sqs, deadUrl, { heldSeconds: shownSeconds, atMost: limit, tell }),
    );
    await release(sqs, deadUrl, held);
    const lines = held
      .sort((a, b) => a.sentAt - b.sentAt)
      .map(({ id, sentAt, receives, body }) => `${timestamp(sentAt)}  ${id}  received ${receives} times\n  ${body}`);
    console.log(lines.length > 0 ? lines.join('\n') : `${name} has no dead letters.`);
  });

const redrive = command(
  'redrive',
  'Have the dead letters of a queue handled once more',
  'npm run --silent dead-letters -- redrive deliveries',
  'npm run --silent dead-letters -- redrive deadChanges --stack Crewboard',
)
  .description(
    [
      'Have the dead letters of a queue handled once more; first find why they are there, and mend it.',
      'They are moved back to their queue. Changes in deadChanges, which come from none, are handed to the publisher,',
      'each deleted once that has taken it. What fails again is among the dead letters again.',
    ].join(' '),
  )
  .addArgument(queueArgument())
  .addOption(stackOption())
  .action(async (name, { stack }) => {
    const { url, deadUrl, ...deadLetters } = await openQueue(stack, name);
    const { sqs, move } = deadLetters;
    if (url === deadUrl) return redriveAll(name, url, deadLetters);
    const { number, arn } = await attributesOf(sqs, deadUrl);
    if (number === 0) return console.log(`${name} has no dead letters.`);
    const moved = await withProgress(`Moving what ${name} has`, (tell) =>
      move({ queue: name, url, deadUrl, number, arn }, tell),
    );
    console.log(`${moved} What fails again comes back here; list tells.`);
  });

/** `npm run dead-letters`: what our own faults have left undone, and another try for it once they are mended. */
export const deadLetters = command(
  'dead-letters',
  'List, show and redrive what our own faults have left undone',
  'npm run --silent dead-letters -- list',
  'npm run --silent dead-letters -- redrive deliveries --stack Crewboard',
)
  .addCommand(list)
  .addCommand(show)
  .addCommand(redrive);

function queueArgument() {
  return new Argument('<queue>', 'the queue that they come from').choices(Object.keys(queues) as QueueName[]);
}

async function openQueue(stack: string | undefined, name: QueueName): Promise<DeadLetters & QueueUrls> {
  const opened = await openDeadLetters(stack);
  return { ...opened, ...(opened.queues.find(({ queue }) => queue === name) as QueueUrls) };
}

async function redriveAll(name: QueueName, url: string, { sqs, publish }: Pick<DeadLetters, 'sqs' | 'publish'>) {
  const { done, setAside, failed } = await withProgress(`Reading ${name}`, (tell) =>
    redriveChanges(sqs, url, publish, tell),
  );
  if (failed.length + setAside > 0) process.exitCode = 1;
  console.log(
    [
      `${done} handled, ${setAside} set aside again, ${failed.length} failed. Only what was handled has left ${name}.`,
      ...failed.map((fault) => `  ${fault}`),
    ].join('\n'),
  );
}

async function attributesOf(sqs: SQSClient, QueueUrl: string): Promise<{ number: number; arn: string }> {
  const AttributeNames = ['ApproximateNumberOfMessages', 'QueueArn'] as const;
  const request = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...AttributeNames] });
  const { Attributes = {} } = await sqs.send(request);
  return { number: Number(Attributes.ApproximateNumberOfMessages ?? 0), arn: Attributes.QueueArn ?? '' };
}
