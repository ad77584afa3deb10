import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { fileNameOf } from '../../../lib/contract/routes.ts';
import { consumers } from '../../../lib/deployment/consumers.ts';
import { contextOf, loadHandler } from '../../local/functions.ts';
import type { Running } from '../../local/running.ts';
import { findLocal } from '../deployments.ts';
import { type Queues, queuesOfStack, queuesOfThisMachine } from '../queues.ts';
import { partOf, resourcesOf } from '../stack/stack.ts';
import type { ChangeRecord } from './dead-letter-kinds.ts';

/** Hands a change to the function that publishes; answers what it failed for, if it did. */
type Publish = (change: ChangeRecord) => Promise<string | undefined>;

/** Where the dead letters of a deployment are, and what it has to handle them once more. */
export type DeadLetters = Queues & {
  /** Hands a change to the publisher as it is deployed now. */
  publish: Publish;
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
  const lambda = new LambdaClient({});
  return {
    ...queuesOfStack(resources),
    publish: async (change) => {
      const FunctionName = partOf(resources, 'AWS::Lambda::Function', 'publishEvents');
      const { FunctionError, Payload } = await lambda.send(
        new InvokeCommand({ FunctionName, Payload: batchOf(change) }),
      );
      const text = Buffer.from(Payload ?? []).toString('utf8');
      if (FunctionError) return text;
      return faultIn(JSON.parse(text), `npm run trace -- ${change.eventID} tells why`);
    },
  };
}

async function ofThisMachine(): Promise<DeadLetters> {
  const running = await findLocal();
  return { ...queuesOfThisMachine(running), publish: publisherOf(running) };
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
