import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBRecord, DynamoDBStreamEvent, Context as LambdaContext, SQSEvent, SQSRecord } from 'aws-lambda';
import * as v from 'valibot';
import { sendMessages } from '../aws/queue.ts';
import { type Context, processContext } from '../context/context.ts';
import type { Organization } from '../contract/organization.ts';
import type { Schema } from '../contract/shapes.ts';
import { type Counts, lateSeconds } from '../names/metrics.ts';
import { withStartCheck } from '../names/start-check.ts';
import { type RequestSource, runWithRequest } from '../table/access/current-request.ts';
import { organizationOf } from '../table/access/keys.ts';
import type { Item } from '../table/access/write.ts';
import { checkTable } from '../table/check-table.ts';
import { isHopeless } from './hopeless.ts';
import { meter } from './meter.ts';

/**
 * A change of an item in the table's stream: the item before and after; `undefined` before its creation or after its end. A
 * dead letter that is redriven (`isRedriven`) comes after later changes of the item; all others come in order.
 */
export type TableChange = {
  organization: Organization;
  before: Item | undefined;
  after: Item | undefined;
  isRedriven: boolean;
};

/** A record of the stream, or one that was a dead letter. */
type StreamRecord = DynamoDBRecord & { redriven?: boolean };

/** The result of a message: counts for the metrics, and fields for its line in the log. */
type Done = { counts?: Counts };

/** The response to Lambda for a batch: the records that have to be delivered again. */
type BatchResult = ReturnType<typeof processPartialResponse>;

/**
 * Returns the Lambda handler of the table's stream. It calls `handle` for each change of a batch at the same time, under
 * the request that made the change. Lambda delivers the batch again from the first failed change on, so `handle` must
 * accept changes that it has handled before. A record that can never be handled would stop all later ones; it becomes a
 * dead letter, with its keys and images.
 */
export function consumeStream(handle: (change: TableChange, context: Context) => Promise<void>) {
  const consume = async ({ redriven: isRedriven = false, ...record }: StreamRecord): Promise<void> => {
    const context = processContext();
    try {
      const change = { ...changeOf(record.dynamodb), isRedriven };
      await runWithRequest(requestIn(change.after ?? change.before), () => handle(change, context));
    } catch (error) {
      if (!isHopeless(error)) throw error;
      context.log.error('change set aside', { record: record.eventID, error: error as Error });
      await sendMessages(context, 'deadLetters', [{ message: record, delaySeconds: 0 }]);
    }
  };
  const handler = (event: DynamoDBStreamEvent, context: LambdaContext): BatchResult => {
    const late = lateSeconds({ ChangesLate: oldestAge(event, processContext().clock()) });
    if (late > 0) meter({ WorkLate: late });
    return processPartialResponse(
      event,
      logFailure(({ eventID, dynamodb }) => ({ record: eventID, requestId: requestOfChange(dynamodb) }), consume),
      new BatchProcessor(EventType.DynamoDBStreams),
      { context, throwOnFullBatchFailure: false },
    );
  };
  return withStartCheck(handler, () => checkTable(processContext()));
}

/** Returns how many seconds before `now` (Unix time, in ms), the oldest change of a batch was made. */
function oldestAge({ Records }: DynamoDBStreamEvent, now: number): number {
  const madeAt = Records.map(({ dynamodb }) => dynamodb?.ApproximateCreationDateTime ?? Number.POSITIVE_INFINITY);
  return Math.round(now / 1000 - Math.min(...madeAt));
}

/** Returns the id of the request that a message or an item names. */
function requestIn(of: unknown): RequestSource {
  return { requestId: (of as { requestId?: string } | undefined)?.requestId };
}

/**
 * Returns the Lambda handler of a queue. It calls `handle` for each message of a batch at the same time, under the request
 * that the message names. The counts that `handle` returns are logged with the ids of the message and with the other fields that
 * it returns, and become metrics, those of a batch in one line. SQS delivers failed messages again, and moves messages that fail
 * repeatedly to the dead-letter queue.
 */
export function consumeQueue<const Message extends Schema>(
  schema: Message,
  handle: (message: v.InferOutput<Message>, context: Context) => Promise<Done> | Promise<void>,
) {
  const consume = async ({ body }: SQSRecord, counted: Counts[]): Promise<void> => {
    const context = processContext();
    const message = v.parse(schema, JSON.parse(body));
    const done = await runWithRequest(requestIn(message), () => handle(message, context));
    const { counts = {}, ...did }: Done = done ?? {};
    counted.push(counts);
    // The content comes from an event, which has texts of users.
    const { content, ...ids } = message as { content?: unknown };
    context.log.info('message', { ...ids, ...counts, ...did });
  };
  const handler = async (event: SQSEvent, context: LambdaContext): BatchResult => {
    const counted: Counts[] = [];
    const result = await processPartialResponse(
      event,
      logFailure(
        ({ messageId, body }: SQSRecord) => ({ record: messageId, requestId: requestOfMessage(body) }),
        (record) => consume(record, counted),
      ),
      new BatchProcessor(EventType.SQS),
      { context, throwOnFullBatchFailure: false },
    );
    meter(...counted);
    return result;
  };
  return withStartCheck(handler, () => checkTable(processContext()));
}

function changeOf(record: DynamoDBRecord['dynamodb']): Omit<TableChange, 'isRedriven'> {
  const image = (values: unknown) => values && unmarshall(values as Record<string, AttributeValue>);
  const [before, after] = [image(record?.OldImage), image(record?.NewImage)] as [
    TableChange['before'],
    TableChange['after'],
  ];
  return { organization: organizationOf((after ?? before)?.pk as string), before, after };
}

/** Returns the request that made a change, from images that may be invalid in other parts. */
function requestOfChange(record: DynamoDBRecord['dynamodb']): string | undefined {
  return (record?.NewImage ?? record?.OldImage)?.requestId?.S;
}

/** Returns the request that a message names; the message may be invalid. The ids of API Gateway are base64. */
function requestOfMessage(body: string): string | undefined {
  return /"requestId":"([^"\\]+)"/.exec(body)?.[1];
}

/** Returns a function that logs the failure of a record once, and throws it. */
function logFailure<Record>(nameOf: (record: Record) => object, consume: (record: Record) => Promise<void>) {
  return async (record: Record): Promise<void> => {
    try {
      await consume(record);
    } catch (error) {
      processContext().log.error('record failed', { ...nameOf(record), error: error as Error });
      throw error;
    }
  };
}
