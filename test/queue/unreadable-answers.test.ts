import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, describe, expect, it } from 'vitest';
import { clientConfig } from '../../lib/aws/client-config.ts';
import { isHopeless } from '../../lib/queue/hopeless.ts';
import { createQueueSender } from '../../lib/sqs/queue.ts';
import { openTable } from '../../lib/table/client.ts';
import { getItem } from '../../lib/table/reads.ts';
import { startReceiver } from '../webhooks/sender/receiver.ts';

/** What the AWS SDK makes of an answer that is not the service's: a proxy's page, or the start of an answer only. */
const { url } = await startReceiver((response) => {
  response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' }).end('{"Item": {"pk');
});
const endpoint = new URL(url).origin;
const sqs = new SQSClient(clientConfig(endpoint));

afterAll(() => sqs.destroy());

/** What something is rejected with. */
const rejectionOf = (work: Promise<unknown>) => work.then(String, (error: unknown) => error);

describe('an answer that cannot be read', () => {
  it('of the table may pass: the change is worth another try', async () => {
    const error = await rejectionOf(getItem(openTable('table', endpoint), { pk: 'pk', sk: 'sk' }));
    expect(error).toBeInstanceOf(SyntaxError);
    expect(isHopeless(error)).toBe(false);
  });

  it('of a queue may pass: the change is worth another try', async () => {
    const error = await rejectionOf(createQueueSender(sqs, `${endpoint}/queue`)([{ message: {}, delaySeconds: 0 }]));
    expect(error).toBeInstanceOf(SyntaxError);
    expect(isHopeless(error)).toBe(false);
  });
});
