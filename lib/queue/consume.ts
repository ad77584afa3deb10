import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBRecord, DynamoDBStreamEvent, Context as LambdaContext, SQSEvent, SQSRecord } from 'aws-lambda';
import * as v from 'valibot';
import { type Context, processContext } from '../context.ts';
import type { Organization } from '../contract/organization.ts';
import type { Schema } from '../contract/shapes.ts';
import { type Counts, lateSeconds } from '../deployment/metrics.ts';
import { type RequestIds, runWithRequest } from '../request-context.ts';
import type { Queue } from '../sqs/queue.ts';
import { organizationOf } from '../table/keys.ts';
import type { Item } from '../table/write.ts';
import { isHopeless } from './hopeless.ts';
import { meter } from './meter.ts';

/** A change of an item, as the table's stream tells it: the item before and after, absent where there was none. */
export type Change = { organization: Organization; before: Item | undefined; after: Item | undefined };

/** What Lambda is told of a batch: the records that have to come again. */
type BatchResult = ReturnType<typeof processPartialResponse>;

/**
 * The Lambda handler of the table's stream: `handle` for each change, side by side, for the request that made
 * it. From the first that fails on, the stream comes again, so `handle` must not mind a change that it has seen. A
 * record that would fail for ever is put aside with its keys and images, for it would stop all that come after it.
 */
export function consumeStream<App extends Context & { deadLetters: Queue<unknown> }>(
  handle: (change: Change, app: App) => Promise<void>,
  open: () => App,
) {
  const consume = async (record: DynamoDBRecord): Promise<void> => {
    try {
      const change = changeOf(record.dynamodb);
      await runWithRequest(requestIn(change.after ?? change.before), () => handle(change, open()));
    } catch (error) {
      if (!isHopeless(error)) throw error;
      open().log.error('change set aside', { record: record.eventID, error: error as Error });
      await open().deadLetters.send([{ message: record, delaySeconds: 0 }]);
    }
  };
  return (event: DynamoDBStreamEvent, context: LambdaContext): BatchResult => {
    const late = lateSeconds({ ChangesLate: oldestAge(event, open().clock()) });
    if (late > 0) meter({ WorkLate: late });
    return processPartialResponse(
      event,
      logFailure(open, ({ eventID, dynamodb }) => ({ record: eventID, requestId: requestOfChange(dynamodb) }), consume),
      new BatchProcessor(EventType.DynamoDBStreams),
      { context, throwOnFullBatchFailure: false },
    );
  };
}

/** Returns how many seconds before `now`, in milliseconds since 1970, the oldest change of a batch was made. */
function oldestAge({ Records }: DynamoDBStreamEvent, now: number): number {
  const madeAt = Records.map(({ dynamodb }) => dynamodb?.ApproximateCreationDateTime ?? Number.POSITIVE_INFINITY);
  return Math.round(now / 1000 - Math.min(...madeAt));
}

/** Returns the id of the request that a message or an item names. */
function requestIn(of: unknown): RequestIds {
  return { requestId: (of as { requestId?: string } | undefined)?.requestId };
}

/**
 * The Lambda handler of a queue: `handle` for each message, side by side, for the request that it goes back
 * to. What `handle` counts is metered, and stands in the log beside the message, which holds ids only. Messages that
 * fail come again by themselves, and go to the dead letters when they have come too often.
 */
export function consumeQueue<const Message extends Schema, App extends Context = Context>(
  schema: Message,
  handle: (message: v.InferOutput<Message>, app: App) => Promise<Counts> | Promise<void>,
  open: () => App = processContext as () => App,
) {
  const consume = async ({ body }: SQSRecord): Promise<void> => {
    const message = v.parse(schema, JSON.parse(body));
    const counts = await runWithRequest(requestIn(message), () => handle(message, open()));
    if (counts) meter(counts);
    open().log.info('message', { ...(message as object), ...counts });
  };
  return (event: SQSEvent, context: LambdaContext): BatchResult =>
    processPartialResponse(
      event,
      logFailure(open, ({ messageId, body }) => ({ record: messageId, requestId: requestOfMessage(body) }), consume),
      new BatchProcessor(EventType.SQS),
      { context, throwOnFullBatchFailure: false },
    );
}

function changeOf(record: DynamoDBRecord['dynamodb']): Change {
  const image = (values: unknown) => values && unmarshall(values as Record<string, AttributeValue>);
  const [before, after] = [image(record?.OldImage), image(record?.NewImage)] as [Change['before'], Change['after']];
  return { organization: organizationOf((after ?? before)?.pk as string), before, after };
}

/** The request that a change goes back to, read from its images as they come: whatever else is wrong with them. */
function requestOfChange(record: DynamoDBRecord['dynamodb']): string | undefined {
  return (record?.NewImage ?? record?.OldImage)?.requestId?.S;
}

/** The request that a message goes back to, likewise. API Gateway's ids are base64 and most end in `=`. */
function requestOfMessage(body: string): string | undefined {
  return /"requestId":"([^"\\]+)"/.exec(body)?.[1];
}

/** A record that fails says so in the log, once each time, and then comes again. */
function logFailure<Record>(
  open: () => Context,
  nameOf: (record: Record) => object,
  consume: (record: Record) => Promise<void>,
) {
  return async (record: Record): Promise<void> => {
    try {
      await consume(record);
    } catch (error) {
      open().log.error('record failed', { ...nameOf(record), error: error as Error });
      throw error;
    }
  };
}
