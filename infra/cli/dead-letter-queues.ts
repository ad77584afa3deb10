import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetQueueUrlCommand, SQSClient, StartMessageMoveTaskCommand } from '@aws-sdk/client-sqs';
import { consumers } from '../../lib/contract/consumers.ts';
import { clientConfig, environment, type QueueName, queues } from '../../lib/contract/deployment.ts';
import { fileNameOf } from '../../lib/contract/endpoints.ts';
import { contextOf, loadHandler } from '../local/functions.ts';
import { deadLettersOf, type Running } from '../local/running.ts';
import { findLocal } from './deployments.ts';
import { moveMessages } from './move-messages.ts';
import type { Tell } from './progress.ts';
import type { ChangeRecord, Publish } from './redrive-changes.ts';
import { partOf, type QueueUrls, queuesOf, resourcesOf } from './stack.ts';

/** The dead letters of a deployment, and what it has to handle them once more. */
export type DeadLetters = {
  sqs: SQSClient;
  queues: readonly QueueUrls[];
  /** Hands a change to the publisher as it is deployed now. */
  publish: Publish;
  /** Has the dead letters of a queue moved back to it; answers what was done, as a sentence's beginning. */
  move: (from: QueueUrls & { number: number; arn: string }, tell: Tell) => Promise<string>;
};

/**
 * The dead letters of a stack in AWS, or of the service that runs on this machine where none is named.
 *
 * @throws `Problem` where there is none
 */
export function openDeadLetters(stack: string | undefined): Promise<DeadLetters> {
  return stack === undefined ? ofThisMachine() : ofStack(stack);
}

async function ofStack(stack: string): Promise<DeadLetters> {
  const resources = await resourcesOf(stack);
  // Where AWS answers is for this shell to say, as for every other client, not for the URL of a queue.
  const sqs = new SQSClient({ useQueueUrlAsEndpoint: false });
  const lambda = new LambdaClient({});
  return {
    sqs,
    queues: queuesOf(resources),
    publish: async (change) => {
      const FunctionName = partOf(resources, 'AWS::Lambda::Function', 'publishEvents');
      const { FunctionError, Payload } = await lambda.send(
        new InvokeCommand({ FunctionName, Payload: batchOf(change) }),
      );
      const text = Buffer.from(Payload ?? []).toString('utf8');
      if (FunctionError) return text;
      return faultIn(JSON.parse(text), `npm run trace -- ${change.eventID} tells why`);
    },
    move: async ({ queue, number, arn }) => {
      await sqs.send(new StartMessageMoveTaskCommand({ SourceArn: arn }));
      return `SQS is moving about ${number} back to ${queue}.`;
    },
  };
}

async function ofThisMachine(): Promise<DeadLetters> {
  const running = await findLocal();
  const variables = running.environment;
  const sqs = new SQSClient(clientConfig(variables[environment.sqsEndpoint]));
  const urlOf = async (QueueName: string) => (await sqs.send(new GetQueueUrlCommand({ QueueName }))).QueueUrl ?? '';
  const names = Object.keys(queues) as QueueName[];
  return {
    sqs,
    queues: await Promise.all(
      names.map(async (queue) => {
        const url = await urlOf(queue);
        return { queue, url, deadUrl: 'deadLetters' in queues[queue] ? url : await urlOf(deadLettersOf(queue)) };
      }),
    ),
    publish: publisherOf(running),
    // The engine has no tasks that move messages.
    move: async ({ queue, url, deadUrl }, tell) =>
      `${await moveMessages(sqs, deadUrl, url, tell)} moved back to ${queue}.`,
  };
}

/** The publisher that Lambda would run, in this process: its log of what goes wrong goes to standard error. */
function publisherOf({ environment: variables }: Running): Publish {
  const name = 'publishEvents';
  return async (change) => {
    // Not before there is a change: who lists dead letters needs neither the function nor its environment.
    Object.assign(process.env, variables, { POWERTOOLS_LOG_LEVEL: 'WARN' });
    const handler = await loadHandler('pipeline', fileNameOf(name));
    const answer = await handler(JSON.parse(batchOf(change)), contextOf(name, consumers[name].timeoutSeconds));
    return faultIn(answer, 'the log on standard error tells why');
  };
}

const batchOf = (change: ChangeRecord): string => JSON.stringify({ Records: [change] });

function faultIn(answer: unknown, fault: string): string | undefined {
  const { batchItemFailures } = answer as { batchItemFailures: unknown[] };
  return batchItemFailures.length > 0 ? fault : undefined;
}
