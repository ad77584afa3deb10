import type { SQSEvent } from 'aws-lambda';

/** Returns the event of Lambda for messages of a queue: a record for each body, with the ids `message-0` and so on. */
export function queueEvent(bodies: readonly string[]): SQSEvent {
  return {
    Records: bodies.map((body, at) => ({
      messageId: `message-${at}`,
      receiptHandle: `handle-${at}`,
      body,
      attributes: {
        ApproximateReceiveCount: '1',
        SentTimestamp: '0',
        SenderId: 'test',
        ApproximateFirstReceiveTimestamp: '0',
      },
      messageAttributes: {},
      md5OfBody: '',
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:local:000000000000:deliveries',
      awsRegion: 'local',
    })),
  };
}
