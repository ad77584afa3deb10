import { DeleteMessageCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, describe, expect, it } from 'vitest';
import { kinds } from '../../../../infra/cli/dead-letters/dead-letter-kinds.ts';
import { withHeld } from '../../../../infra/cli/dead-letters/received-messages.ts';
import { redrive } from '../../../../infra/cli/dead-letters/redrive.ts';
import { startQueueServer } from '../../../../infra/local/queues/queue-server.ts';
import { createQueues } from '../../../../infra/local/queues/queues.ts';
import { clientConfig } from '../../../../lib/aws/client-config.ts';

const { endpoint, urls, stop } = await startQueueServer(createQueues());
const sqs = new SQSClient(clientConfig(endpoint));
afterAll(async () => {
  sqs.destroy();
  await stop();
});

const letters = { sqs, urls, publish: async () => undefined };
const bodies = Array.from({ length: 12 }, (_, nth) =>
  JSON.stringify({ organization: 'acme', agentId: `ag_01K000000000000000000000${10 + nth}` }),
);

async function put(...all: string[]): Promise<void> {
  for (const part of [all.slice(0, 10), all.slice(10)]) {
    const Entries = part.map((MessageBody, at) => ({ Id: String(at), MessageBody }));
    if (part.length > 0) await sqs.send(new SendMessageBatchCommand({ QueueUrl: urls.deadLetters, Entries }));
  }
}

const bodiesIn = (queue: keyof typeof urls): Promise<string[]> =>
  withHeld(sqs, urls[queue], { heldSeconds: 30 }, async (held) => held.map(({ body }) => body).sort());

describe('redriving', () => {
  it('moves every letter once, and what it could not move stays where it was', async () => {
    await put(...bodies);
    const told: string[] = [];
    const failing = redrive(letters, kinds, (text) => {
      told.push(text);
      if (text === '5 of 12 dead letters redriven') throw new Error('The way is cut.');
    });
    await expect(failing).rejects.toThrow('The way is cut.');
    expect(told).toEqual([
      '10 messages in hand',
      '12 messages in hand',
      ...[1, 2, 3, 4, 5].map((count) => `${count} of 12 dead letters redriven`),
    ]);
    const [moved, left] = [await bodiesIn('purges'), await bodiesIn('deadLetters')];
    expect([moved.length, left.length]).toEqual([5, 7]);
    expect([...moved, ...left].sort()).toEqual(bodies.toSorted());
    const { done, setAside, failed } = await redrive(letters, kinds, () => {});
    expect([done, setAside, failed]).toEqual([Array(7).fill('purges'), 0, []]);
    expect(await bodiesIn('purges')).toEqual(bodies.toSorted());
    expect(await bodiesIn('deadLetters')).toEqual([]);
  });

  it('leaves a letter that its queue does not take', async () => {
    const [body = ''] = bodies;
    await put(body);
    const gone = { ...letters, urls: { ...urls, purges: `${endpoint}/000000000000/gone` } };
    await expect(redrive(gone, kinds, () => {})).rejects.toThrow();
    expect(await bodiesIn('deadLetters')).toEqual([body]);
  });

  it('has a letter in both places, not in neither, where it is cut between sending and deleting', async () => {
    const [, , body = ''] = bodies;
    await put(body);
    const send = (command: never) =>
      (command as unknown) instanceof DeleteMessageCommand ? Promise.reject(new Error('Cut.')) : sqs.send(command);
    const cut = { ...letters, sqs: { send } as SQSClient };
    await expect(redrive(cut, ['purges'], () => {})).rejects.toThrow('Cut.');
    for (const queue of ['purges', 'deadLetters'] as const) expect(await bodiesIn(queue)).toContain(body);
  });
});
