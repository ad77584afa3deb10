import { GetQueueUrlCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, expect, it } from 'vitest';
import { hold, release } from '../../../infra/cli/held-messages.ts';
import { moveMessages } from '../../../infra/cli/move-messages.ts';
import { startQueues } from '../../../infra/local/queues.ts';
import { deadLettersOf } from '../../../infra/local/running.ts';
import { clientConfig } from '../../../lib/contract/deployment.ts';

const { endpoint, urls, stop } = await startQueues();
const sqs = new SQSClient(clientConfig(endpoint));
afterAll(async () => {
  sqs.destroy();
  await stop();
});

const { QueueUrl: dead = '' } = await sqs.send(new GetQueueUrlCommand({ QueueName: deadLettersOf('purges') }));
const bodies = Array.from({ length: 12 }, (_, nth) => `body ${nth}`);

async function bodiesIn(url: string): Promise<string[]> {
  const held = await hold(sqs, url, { heldSeconds: 30 });
  await release(sqs, url, held);
  return held.map(({ body }) => body).sort();
}

it('moves every message once, and what it could not move stays where it was', async () => {
  for (const part of [bodies.slice(0, 10), bodies.slice(10)]) {
    const Entries = part.map((MessageBody, at) => ({ Id: String(at), MessageBody }));
    await sqs.send(new SendMessageBatchCommand({ QueueUrl: dead, Entries }));
  }
  const told: string[] = [];
  const failing = moveMessages(sqs, dead, urls.purges, (text) => {
    told.push(text);
    if (text === '5 of 12 messages moved') throw new Error('The way is cut.');
  });
  await expect(failing).rejects.toThrow('The way is cut.');
  expect(told).toEqual([
    '10 messages in hand',
    '12 messages in hand',
    ...[1, 2, 3, 4, 5].map((count) => `${count} of 12 messages moved`),
  ]);
  const [moved, left] = [await bodiesIn(urls.purges), await bodiesIn(dead)];
  expect([moved.length, left.length]).toEqual([5, 7]);
  expect([...moved, ...left].sort()).toEqual(bodies.toSorted());
  expect(await moveMessages(sqs, dead, urls.purges, () => {})).toBe(7);
  expect(await bodiesIn(urls.purges)).toEqual(bodies.toSorted());
});
