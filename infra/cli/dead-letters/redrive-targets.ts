import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { SQSClient } from '@aws-sdk/client-sqs';
import { fileNameOf } from '../../../lib/contract/routes.ts';
import { consumers } from '../../../lib/names/consumers.ts';
import { queueUrlsOf, resourceName, resourcesOf } from '../../aws/deployed/stack.ts';
import { contextOf, loadHandler } from '../../local/functions.ts';
import { createQueueClient, type QueueClient } from '../../local/queues/queue-client.ts';
import type { Queues } from '../../local/queues/queues.ts';
import type { ChangeRecord } from './dead-letter-kinds.ts';

/** Calls the function that publishes events with a change. Returns an error message if the call fails. */
type Publish = (change: ChangeRecord) => Promise<string | undefined>;

/** The places to which dead letters are sent again: the queues, and the publisher of changes. */
export type RedriveTargets = QueueClient & { publish: Publish };

/**
 * Finds the redrive targets of a stack in AWS.
 *
 * @throws `Problem` if there is no such stack
 */
export async function findStackTargets(stack: string): Promise<RedriveTargets> {
  const resources = await resourcesOf(stack);
  const lambda = new LambdaClient({});
  return {
    // The endpoint of AWS is configured in the environment, as for all other clients, and not taken from the queue's URL.
    sqs: new SQSClient({ useQueueUrlAsEndpoint: false }),
    urls: queueUrlsOf(resources),
    publish: async (change) => {
      const FunctionName = resourceName(resources, 'AWS::Lambda::Function', 'publishEvents');
      const { FunctionError, Payload } = await lambda.send(
        new InvokeCommand({ FunctionName, Payload: batchOf(change) }),
      );
      const text = Buffer.from(Payload ?? []).toString('utf8');
      if (FunctionError) return text;
      return errorIn(JSON.parse(text), `run npm run crewboard -- trace ${change.eventID} for the error`);
    },
  };
}

/** Returns the redrive targets of the service in this process, whose log has the errors of the publisher. */
export function localTargets(queues: Queues): RedriveTargets {
  const name = 'publishEvents';
  return {
    ...createQueueClient(queues),
    publish: async (change) => {
      const handler = await loadHandler('pipeline', fileNameOf(name));
      const result = await handler(JSON.parse(batchOf(change)), contextOf(name, consumers[name].timeoutSeconds));
      return errorIn(result, 'see the log of the service');
    },
  };
}

/** Returns a batch with a change, marked as one that comes after later changes of its item. */
const batchOf = (change: ChangeRecord): string => JSON.stringify({ Records: [{ ...change, redriven: true }] });

function errorIn(result: unknown, message: string): string | undefined {
  const { batchItemFailures } = result as { batchItemFailures: unknown[] };
  return batchItemFailures.length > 0 ? message : undefined;
}
