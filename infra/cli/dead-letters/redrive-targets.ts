import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { fileNameOf } from '../../../lib/contract/routes.ts';
import { consumers } from '../../../lib/deployment/consumers.ts';
import { contextOf, loadHandler } from '../../local/functions.ts';
import type { Running } from '../../local/running.ts';
import { findLocal } from '../deployments.ts';
import { localQueues, type Queues, stackQueues } from '../queues.ts';
import { resourceName, resourcesOf } from '../stack/stack.ts';
import type { ChangeRecord } from './dead-letter-kinds.ts';

/** Calls the function that publishes events with a change. Returns an error message if the call fails. */
type Publish = (change: ChangeRecord) => Promise<string | undefined>;

/** The places to which dead letters are sent again: the queues, and the publisher of changes. */
export type RedriveTargets = Queues & { publish: Publish };

/**
 * Finds the redrive targets of a stack in AWS, or of the service on this machine if no stack is named.
 *
 * @throws `Problem` if there is no such deployment
 */
export async function findRedriveTargets(stack: string | undefined): Promise<RedriveTargets> {
  if (stack === undefined) {
    const running = await findLocal();
    return { ...localQueues(running), publish: publishLocally(running) };
  }
  const resources = await resourcesOf(stack);
  const lambda = new LambdaClient({});
  return {
    ...stackQueues(resources),
    publish: async (change) => {
      const FunctionName = resourceName(resources, 'AWS::Lambda::Function', 'publishEvents');
      const { FunctionError, Payload } = await lambda.send(
        new InvokeCommand({ FunctionName, Payload: batchOf(change) }),
      );
      const text = Buffer.from(Payload ?? []).toString('utf8');
      if (FunctionError) return text;
      return errorIn(JSON.parse(text), `run npm run trace -- ${change.eventID} for the error`);
    },
  };
}

/** Returns a publisher that calls the function in this process. The function logs its errors to standard error. */
function publishLocally({ environment: variables }: Running): Publish {
  const name = 'publishEvents';
  return async (change) => {
    // Only now, because other commands need neither the function nor its environment.
    Object.assign(process.env, variables, { POWERTOOLS_LOG_LEVEL: 'WARN' });
    const handler = await loadHandler('pipeline', fileNameOf(name));
    const result = await handler(JSON.parse(batchOf(change)), contextOf(name, consumers[name].timeoutSeconds));
    return errorIn(result, 'see the log on standard error');
  };
}

const batchOf = (change: ChangeRecord): string => JSON.stringify({ Records: [change] });

function errorIn(result: unknown, message: string): string | undefined {
  const { batchItemFailures } = result as { batchItemFailures: unknown[] };
  return batchItemFailures.length > 0 ? message : undefined;
}
