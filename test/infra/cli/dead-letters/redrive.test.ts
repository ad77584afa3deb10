import { DeleteMessageCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import { kinds } from '../../../../infra/cli/dead-letters/dead-letter-kinds.ts';
import { withReceivedMessages } from '../../../../infra/cli/dead-letters/received-messages.ts';
import { redrive } from '../../../../infra/cli/dead-letters/redrive.ts';
import { createQueueClient } from '../../../../infra/local/queues/queue-client.ts';
import { createQueues } from '../../../../infra/local/queues/queues.ts';

const { sqs, urls } = createQueueClient(createQueues());

const targets = { sqs, urls, publish: async () => undefined };
const bodies = Array.from({ length: 12 }, (_, nth) =>
  JSON.stringify({ organization: 'acme', executionId: `ex_01K000000000000000000000${10 + nth}` }),
);

async function put(...all: string[]): Promise<void> {
  for (const MessageBody of all) await sqs.send(new SendMessageCommand({ QueueUrl: urls.deadLetters, MessageBody }));
}

const bodiesIn = (queue: keyof typeof urls): Promise<string[]> =>
  withReceivedMessages(sqs, urls[queue], { visibilitySeconds: 30 }, async (received) =>
    received.map(({ body }) => body).sort(),
  );

describe('redrive', () => {
  it('moves every dead letter once, and keeps the others in the queue if it fails', async () => {
    await put(...bodies);
    const reports: string[] = [];
    const failing = redrive(targets, kinds, (text) => {
      reports.push(text);
      if (text === '5 of 12 dead letters redriven') throw new Error('The connection failed.');
    });
    await expect(failing).rejects.toThrow('The connection failed.');
    expect(reports).toEqual([
      '10 messages received',
      '12 messages received',
      ...[1, 2, 3, 4, 5].map((count) => `${count} of 12 dead letters redriven`),
    ]);
    const [moved, remaining] = [await bodiesIn('executions'), await bodiesIn('deadLetters')];
    expect([moved.length, remaining.length]).toEqual([5, 7]);
    expect([...moved, ...remaining].sort()).toEqual(bodies.toSorted());
    const { done, setAside, failed } = await redrive(targets, kinds, () => {});
    expect([done, setAside, failed]).toEqual([Array(7).fill('executions'), 0, []]);
    expect(await bodiesIn('executions')).toEqual(bodies.toSorted());
    expect(await bodiesIn('deadLetters')).toEqual([]);
  });

  it('keeps all dead letters visible if it ends while it receives them', async () => {
    await put(...bodies);
    const ended = redrive(targets, kinds, () => {
      throw new Error('The operator has ended the command.');
    });
    await expect(ended).rejects.toThrow('The operator has ended the command.');
    expect(await bodiesIn('deadLetters')).toEqual(bodies.toSorted());
    await redrive(targets, kinds, () => {});
    await bodiesIn('executions');
  });

  it('keeps a dead letter that its queue rejects', async () => {
    const [body = ''] = bodies;
    await put(body);
    const gone = { ...targets, urls: { ...urls, executions: 'gone' } };
    await expect(redrive(gone, kinds, () => {})).rejects.toThrow();
    expect(await bodiesIn('deadLetters')).toEqual([body]);
  });

  it('leaves a message in both queues if it fails between sending and deleting', async () => {
    const [, , body = ''] = bodies;
    await put(body);
    const send = (command: never) =>
      (command as unknown) instanceof DeleteMessageCommand
        ? Promise.reject(new Error('Not deleted.'))
        : sqs.send(command);
    const failing = { ...targets, sqs: { send: send as SQSClient['send'] } };
    await expect(redrive(failing, ['executions'], () => {})).rejects.toThrow('Not deleted.');
    for (const queue of ['executions', 'deadLetters'] as const) expect(await bodiesIn(queue)).toContain(body);
  });
});
