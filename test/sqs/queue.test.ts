import { ReceiveMessageCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clientConfig } from '../../lib/aws/client-config.ts';
import { Organization } from '../../lib/contract/organization.ts';
import { DeliveryMessage, ExecutionMessage, PurgeMessage } from '../../lib/deployment/messages.ts';
import { openQueue } from '../../lib/sqs/queue.ts';
import { type Queues, startQueues } from '../sqs-emulator.ts';

type Entry = { Id: string; MessageBody: string; DelaySeconds: number; MessageGroupId?: string };
type Failure = { Id: string; SenderFault: boolean; Code: string };

/** A queue over a client that only notes the batches, and answers the nth with these failures. */
function notingQueue(failures: (nth: number, entries: Entry[]) => Failure[] = () => []) {
  const batches: { url: string; entries: Entry[] }[] = [];
  const client = {
    send: async (command: SendMessageBatchCommand) => {
      expect(command).toBeInstanceOf(SendMessageBatchCommand);
      const { QueueUrl, Entries } = command.input as { QueueUrl: string; Entries: Entry[] };
      batches.push({ url: QueueUrl, entries: Entries });
      return { Failed: failures(batches.length - 1, Entries) };
    },
  };
  return {
    batches,
    queue: openQueue<{ nth: number; organization?: string }>(client as unknown as SQSClient, 'http://queue'),
  };
}

const numbered = (count: number) => Array.from({ length: count }, (_, nth) => ({ message: { nth }, delaySeconds: 0 }));
const passing = ({ Id }: Entry): Failure => ({ Id, SenderFault: false, Code: 'InternalError' });
const bodiesOf = (batches: { entries: Entry[] }[]) =>
  batches.map(({ entries }) => entries.map((one) => one.MessageBody));

describe('a send', () => {
  it('of nothing asks nothing of SQS', async () => {
    const { batches, queue } = notingQueue();
    await queue.send([]);
    expect(batches).toEqual([]);
  });

  it('carries each message as JSON with its delay', async () => {
    const { batches, queue } = notingQueue();
    await queue.send([
      { message: { nth: 1 }, delaySeconds: 0 },
      { message: { nth: 2 }, delaySeconds: 900 },
    ]);
    expect(batches).toEqual([
      {
        url: 'http://queue',
        entries: [
          { Id: '0', MessageBody: '{"nth":1}', DelaySeconds: 0 },
          { Id: '1', MessageBody: '{"nth":2}', DelaySeconds: 900 },
        ],
      },
    ]);
  });

  it('puts the messages of an organization into its message group, by which SQS shares a queue fairly', async () => {
    const { batches, queue } = notingQueue();
    const sent = ['acme', 'globex', undefined].map((organization) => ({
      message: { nth: 1, ...(organization && { organization }) },
      delaySeconds: 0,
    }));
    await queue.send(sent);
    expect(batches[0]?.entries.map(({ MessageGroupId }) => MessageGroupId)).toEqual(['acme', 'globex', undefined]);
  });

  it.each(Object.entries({ DeliveryMessage, ExecutionMessage, PurgeMessage }))(
    'has a message group for every message of a work queue: %s names its organization',
    (_, schema) => {
      const variants = 'options' in schema ? schema.options : [schema];
      for (const { entries } of variants) expect(entries.organization).toBe(Organization);
    },
  );

  it.each([
    [1, [1]],
    [10, [10]],
    [11, [10, 1]],
    [25, [10, 10, 5]],
  ])('of %i messages goes in batches of ten at most', async (count, sizes) => {
    const { batches, queue } = notingQueue();
    await queue.send(numbered(count));
    expect(batches.map(({ entries }) => entries.length)).toEqual(sizes);
    expect(bodiesOf(batches).flat()).toEqual(numbered(count).map(({ message }) => JSON.stringify(message)));
    for (const { entries } of batches) expect(new Set(entries.map(({ Id }) => Id)).size).toBe(entries.length);
  });
});

it('messages that are sent in one turn of the event loop go in one batch', async () => {
  const { batches, queue } = notingQueue();
  await Promise.all([queue.send(numbered(3)), queue.send(numbered(4))]);
  expect(batches.map(({ entries }) => entries.length)).toEqual([7]);
});

describe('a message that SQS does not take', () => {
  it('is sent again alone', async () => {
    const { batches, queue } = notingQueue((nth, entries) => (nth === 0 ? [passing(entries[1] as Entry)] : []));
    await queue.send(numbered(3));
    expect(bodiesOf(batches)).toEqual([['{"nth":0}', '{"nth":1}', '{"nth":2}'], ['{"nth":1}']]);
  });

  it('three times in a row is an error, which says what SQS said', async () => {
    const { batches, queue } = notingQueue((_, entries) => entries.map(passing));
    await expect(queue.send(numbered(2))).rejects.toThrow('InternalError');
    expect(bodiesOf(batches)).toEqual(Array(3).fill(['{"nth":0}', '{"nth":1}']));
  });

  it('for a fault of ours is an error at once', async () => {
    const { batches, queue } = notingQueue((_, [entry]) => [{ ...passing(entry as Entry), SenderFault: true }]);
    await expect(queue.send(numbered(2))).rejects.toThrow();
    expect(batches).toHaveLength(1);
  });

  it('keeps those behind it from none of their tries', async () => {
    const { batches, queue } = notingQueue((nth, entries) => (nth === 0 ? entries.map(passing) : []));
    await queue.send(numbered(12));
    expect(batches.map(({ entries }) => entries.length).toSorted((a, b) => a - b)).toEqual([2, 10, 10]);
  });
});

describe('a delay', () => {
  it.each([-1, 901, 0.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'of %d s is refused before SQS is asked',
    async (delay) => {
      const { batches, queue } = notingQueue();
      await expect(queue.send([{ message: { nth: 1 }, delaySeconds: delay }])).rejects.toThrow('0 to 900');
      expect(batches).toEqual([]);
    },
  );
});

describe('the local SQS', () => {
  let queues: Queues;

  beforeAll(async () => {
    queues = await startQueues();
  });

  afterAll(() => queues.stop());

  it('takes what is sent', async () => {
    const client = new SQSClient(clientConfig(queues.endpoint));
    await openQueue<{ nth: number }>(client, queues.urls.deliveries).send(numbered(3));
    const receive = new ReceiveMessageCommand({ QueueUrl: queues.urls.deliveries, MaxNumberOfMessages: 10 });
    const { Messages = [] } = await client.send(receive);
    expect(Messages.map(({ Body }) => Body).sort()).toEqual(['{"nth":0}', '{"nth":1}', '{"nth":2}']);
    client.destroy();
  });
});
