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
import { isHopeless } from './hopeless.ts';

/** A change of an item, as the table's stream tells it: the item before and after, absent where there was none. */
export type Change = { organization: Organization; before: Item | undefined; after: Item | undefined };

/** What Lambda is told of a batch: the records that have to come again. */
type BatchResult = ReturnType<typeof processPartialResponse>;

/**
 * The Lambda handler of the table's stream: `handle` for each change, side by side. From the first that fails on, the
 * stream comes again, so `handle` must not mind a change that it has seen. A record that would fail for ever is put
 * aside with its keys and images, for it would stop all that come after it.
 */
export function consumeStream(handle: (change: Change, app: App) => Promise<void>, open: () => App = app) {
  const consume = async (record: DynamoDBRecord): Promise<void> => {
    try {
      await handle(changeOf(record.dynamodb), open());
    } catch (error) {
      if (!isHopeless(error)) throw error;
      open().log.error('change set aside', { record: record.eventID, error: error as Error });
      await open().deadChanges.send([{ message: record, delaySeconds: 0 }]);
    }
  };
  return (event: DynamoDBStreamEvent, context: Context): BatchResult =>
    processPartialResponse(
      event,
      logFailure(open, ({ eventID }) => eventID, consume),
      new BatchProcessor(EventType.DynamoDBStreams),
      { context, throwOnFullBatchFailure: false },
    );
}

/**
 * The Lambda handler of a queue: `handle` for each message, side by side. Those that fail come again by themselves, and
 * go to the queue's dead letters when they have come too often.
 */
export function consumeQueue<const Message extends Schema>(
  schema: Message,
  handle: (message: v.InferOutput<Message>, app: App) => Promise<void>,
  open: () => App = app,
) {
  const consume = async ({ body }: SQSRecord): Promise<void> => handle(v.parse(schema, JSON.parse(body)), open());
  return (event: SQSEvent, context: Context): BatchResult =>
    processPartialResponse(
      event,
      logFailure(open, ({ messageId }) => messageId, consume),
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
  nameOf: (record: Record) => string | undefined,
  consume: (record: Record) => Promise<void>,
) {
  return async (record: Record): Promise<void> => {
    try {
      await consume(record);
    } catch (error) {
      open().log.error('record failed', { record: nameOf(record), error: error as Error });
      throw error;
    }
  };
}
