import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Context, DynamoDBRecord, DynamoDBStreamEvent, SQSEvent, SQSRecord } from 'aws-lambda';
import * as v from 'valibot';
import { type App, app } from '../app.ts';
import type { Organization } from '../contract/organization.ts';
import type { Schema } from '../contract/shapes.ts';
import { organizationOf } from '../table/keys.ts';
import type { Item } from '../table/transact.ts';

/** A change of an item, as the table's stream tells it: the item before and after, absent where there was none. */
export type Change = { organization: Organization; before: Item | undefined; after: Item | undefined };

/** What Lambda is told of a batch: the records that have to come again. */
type BatchResult = ReturnType<typeof processPartialResponse>;

/**
 * The Lambda handler of the table's stream: `handle` for each change, side by side. From the first that fails on, the
 * stream comes again, so `handle` must not mind a change that it has seen.
 */
export function consumeStream(handle: (change: Change, app: App) => Promise<void>, open: () => App = app) {
  return (event: DynamoDBStreamEvent, context: Context): BatchResult =>
    processPartialResponse(
      event,
      logFailure(open, ({ dynamodb, eventID }: DynamoDBRecord) => ({
        record: eventID,
        work: () => handle(changeOf(dynamodb), open()),
      })),
      new BatchProcessor(EventType.DynamoDBStreams),
      { context, throwOnFullBatchFailure: false },
    );
}

/** The Lambda handler of a queue: `handle` for each message, side by side; those that fail come again by themselves. */
export function consumeQueue<const Message extends Schema>(
  schema: Message,
  handle: (message: v.InferOutput<Message>, app: App) => Promise<void>,
  open: () => App = app,
) {
  return (event: SQSEvent, context: Context): BatchResult =>
    processPartialResponse(
      event,
      logFailure(open, ({ body, messageId }: SQSRecord) => ({
        record: messageId,
        work: () => handle(v.parse(schema, JSON.parse(body)), open()),
      })),
      new BatchProcessor(EventType.SQS),
      { context, throwOnFullBatchFailure: false },
    );
}

function changeOf(record: DynamoDBRecord['dynamodb']): Change {
  const image = (values: unknown) => values && unmarshall(values as Record<string, AttributeValue>);
  const [before, after] = [image(record?.OldImage), image(record?.NewImage)] as [Change['before'], Change['after']];
  return { organization: organizationOf((after ?? before)?.pk as string), before, after };
}

/** A record that fails says so in the log, once each time, and then comes again. */
function logFailure<Record>(
  open: () => App,
  prepare: (record: Record) => { record: unknown; work: () => Promise<void> },
) {
  return async (given: Record): Promise<void> => {
    const { record, work } = prepare(given);
    try {
      await work();
    } catch (error) {
      open().log.error('record failed', { record, error: error as Error });
      throw error;
    }
  };
}
