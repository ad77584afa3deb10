import type { DynamoDBRecord } from 'aws-lambda';
import { contextOf, loadHandler } from '../../../infra/local/functions.ts';
import { fileNameOf } from '../../../lib/contract/routes.ts';
import { type ConsumerName, consumers, type Job } from '../../../lib/names/consumers.ts';
import { queueEvent } from '../../workers/queue-event.ts';

/** A time that is later than every due time. */
export const allTime = '9999-12-31T23:59:59.999Z';

async function callFunction(name: ConsumerName, event: unknown): Promise<unknown> {
  const handler = await loadHandler('pipeline', fileNameOf(name));
  return handler(event, contextOf(name, consumers[name].timeoutSeconds));
}

async function failuresOf(call: Promise<unknown>): Promise<string[]> {
  const { batchItemFailures } = (await call) as { batchItemFailures: { itemIdentifier: string }[] };
  return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
}

/** Calls the function of a queue with messages; returns the ids of the failed messages: `message-0` and so on. */
export const consume = (name: ConsumerName, ...bodies: string[]): Promise<string[]> =>
  failuresOf(callFunction(name, queueEvent(bodies)));

/** Calls the publisher with records of the stream; returns the sequence numbers of the failed records. */
export const publish = (...Records: DynamoDBRecord[]): Promise<string[]> =>
  failuresOf(callFunction('publishEvents', { Records }));

/** Calls the function of a job as its schedule does. `until` is the latest due time to handle, by default now. */
export async function runJob(job: Job, until?: string): Promise<void> {
  const name = job === 'purges' ? 'purgeAgent' : 'sweepOverdue';
  await callFunction(name, { detail: { job, ...(until && { until }) } });
}
