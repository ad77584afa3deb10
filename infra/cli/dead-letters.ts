import { LambdaClient } from '@aws-sdk/client-lambda';
import { GetQueueAttributesCommand, SQSClient, StartMessageMoveTaskCommand } from '@aws-sdk/client-sqs';
import { queues } from '../../lib/contract/deployment.ts';
import { timestamp } from '../../lib/contract/ids.ts';
import { Problem } from '../local/problem.ts';
import { readArguments, runCommand } from './command.ts';
import { hold, release } from './held-messages.ts';
import { redriveChanges } from './redrive-changes.ts';
import { partOf, queuesOf, type Resource, resourcesOf, type StackQueue, standardStack } from './stack.ts';

const usage = `Usage, for the stack ${standardStack} or the one that --stack NAME names:
  npm run --silent dead-letters -- list
  npm run --silent dead-letters -- show QUEUE [--limit N]
  npm run --silent dead-letters -- redrive QUEUE
Queues: ${Object.keys(queues).join(', ')}.`;

const options = {
  stack: { type: 'string', default: standardStack },
  limit: { type: 'string', default: '10' },
} as const;

/** While they are shown, seconds: nobody else handles dead letters but another operator. */
const shownSeconds = 30;

// Where AWS answers is for this shell to say, as for every other client, not for the URL of a queue.
const sqs = new SQSClient({ useQueueUrlAsEndpoint: false });

/** `npm run dead-letters`: what our own faults have left undone, and another try for it once they are mended. */
async function main(args: string[]): Promise<string> {
  const { positionals, values } = readArguments(args, options, usage);
  const [command, name, ...rest] = positionals;
  if (rest.length > 0 || !['list', 'show', 'redrive'].includes(command ?? '')) throw new Problem(usage);
  if ((command === 'list') !== (name === undefined)) throw new Problem(usage);
  if (!/^[1-9]\d{0,3}$/.test(values.limit)) throw new Problem('--limit must be a whole number from 1 to 9999.');
  if (name && !Object.hasOwn(queues, name)) throw new Problem(`There is no queue ${name}.\n${usage}`);
  const resources = await resourcesOf(values.stack);
  const all = queuesOf(resources);
  const named = all.find(({ queue }) => queue === name);
  if (!named) return list(all);
  return command === 'show' ? show(named, Number(values.limit)) : redrive(named, resources);
}

async function list(all: readonly StackQueue[]): Promise<string> {
  const lines = await Promise.all(
    all.map(async ({ queue, deadUrl }) => `${queue.padEnd(16)}${(await attributesOf(deadUrl)).number}`),
  );
  return [`${'queue'.padEnd(16)}dead letters`, ...lines].join('\n');
}

async function show({ queue, deadUrl }: StackQueue, atMost: number): Promise<string> {
  const held = await hold(sqs, deadUrl, { heldSeconds: shownSeconds, atMost });
  await release(sqs, deadUrl, held);
  if (held.length === 0) return `${queue} has no dead letters.`;
  return held
    .sort((a, b) => a.sentAt - b.sentAt)
    .map(({ id, sentAt, receives, body }) => `${timestamp(sentAt)}  ${id}  received ${receives} times\n  ${body}`)
    .join('\n');
}

async function redrive({ queue, url, deadUrl }: StackQueue, resources: readonly Resource[]): Promise<string> {
  if (url === deadUrl) {
    const lambda = new LambdaClient({});
    const publisher = partOf(resources, 'AWS::Lambda::Function', 'publishEvents');
    const { done, setAside, failed } = await redriveChanges({ sqs, lambda }, url, publisher);
    if (failed.length + setAside > 0) process.exitCode = 1;
    return [
      `${done} handled, ${setAside} set aside again, ${failed.length} failed. Only what was handled has left ${queue}.`,
      ...failed.map((fault) => `  ${fault}`),
    ].join('\n');
  }
  const { number, arn } = await attributesOf(deadUrl);
  if (number === '0') return `${queue} has no dead letters.`;
  await sqs.send(new StartMessageMoveTaskCommand({ SourceArn: arn }));
  return `SQS is moving about ${number} back to ${queue}. What fails again comes back here; list tells.`;
}

async function attributesOf(QueueUrl: string): Promise<{ number: string; arn: string }> {
  const AttributeNames = ['ApproximateNumberOfMessages', 'QueueArn'] as const;
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...AttributeNames] });
  const { Attributes = {} } = await sqs.send(command);
  return { number: Attributes.ApproximateNumberOfMessages ?? '0', arn: Attributes.QueueArn ?? '' };
}

runCommand(main);
