import { marshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import * as v from 'valibot';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { contextOf } from '../../infra/local/functions.ts';
import { processContext, setProcessContext } from '../../lib/context.ts';
import { type Change, consumeQueue, consumeStream } from '../../lib/queue/consume.ts';
import type { QueueSender } from '../../lib/sqs/queue.ts';
import type { Table } from '../../lib/table/client.ts';
import { queueEvent } from '../queue-event.ts';

let setAside: unknown[] = [];
const sendDeadLetters = vi.fn<QueueSender>();
setProcessContext({
  environment: {},
  clock: Date.now,
  table: {} as Table,
  queues: new Map([['deadLetters', sendDeadLetters]]),
});
const context = contextOf('test', 30);
let logged: unknown[][] = [];

beforeEach(() => {
  logged = [];
  vi.spyOn(processContext().log, 'error').mockImplementation((...said: unknown[]) => {
    logged.push(said);
  });
  setAside = [];
  sendDeadLetters.mockImplementation(async (messages) => {
    setAside.push(messages);
  });
});

const Message = v.object({ nth: v.number() });

type Images = { before?: object; after?: object };

const streamEvent = (...images: Images[]): DynamoDBStreamEvent => ({
  Records: images.map(
    ({ before, after }, at): DynamoDBRecord => ({
      eventID: `event-${at}`,
      eventSource: 'aws:dynamodb',
      dynamodb: {
        SequenceNumber: String(100 + at),
        ...(before && { OldImage: marshall(before) as never }),
        ...(after && { NewImage: marshall(after) as never }),
      },
    }),
  ),
});

const failuresOf = ({ batchItemFailures }: { batchItemFailures: { itemIdentifier: string }[] }) =>
  batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);

describe('a function of a queue', () => {
  /** Handles a batch: what was handled, and which messages come again. */
  async function handle(bodies: string[], fails: (nth: number) => boolean = () => false) {
    const handled: number[] = [];
    const handler = consumeQueue(Message, async ({ nth }) => {
      if (fails(nth)) throw new Error(`${nth} does not work.`);
      handled.push(nth);
    });
    return { handled, failures: failuresOf(await handler(queueEvent(bodies), context)) };
  }

  it('handles every message', async () => {
    expect(await handle(['{"nth":1}', '{"nth":2}'])).toEqual({ handled: [1, 2], failures: [] });
    expect(logged).toEqual([]);
  });

  it('is given the context with the message', async () => {
    const given: unknown[] = [];
    const handler = consumeQueue(Message, async (_, opened) => void given.push(opened));
    await handler(queueEvent(['{"nth":1}']), context);
    expect(given).toEqual([processContext()]);
  });

  it('returns exactly the messages that failed', async () => {
    const bodies = ['{"nth":0}', '{"nth":1}', '{"nth":2}', '{"nth":3}'];
    const { handled, failures } = await handle(bodies, (nth) => nth % 2 === 1);
    expect(handled).toEqual([0, 2]);
    expect(failures).toEqual(['message-1', 'message-3']);
  });

  it.each(['{"nth":', '', 'null', '[]', '{}', '{"nth":"1"}'])(
    'does not handle %j, and handles the others',
    async (body) => {
      expect(await handle(['{"nth":0}', body, '{"nth":2}'])).toEqual({ handled: [0, 2], failures: ['message-1'] });
    },
  );

  it('answers and does not throw when every message fails', async () => {
    const { failures } = await handle(['{"nth":0}', '{"nth":1}'], () => true);
    expect(failures).toEqual(['message-0', 'message-1']);
  });

  it('logs which message failed and why, once', async () => {
    await handle(['{"nth":0}', '{"nth":1}'], (nth) => nth === 1);
    expect(logged).toEqual([['record failed', { record: 'message-1', error: new Error('1 does not work.') }]]);
  });

  it.each(['JKJaXmPLvHcESHA=', 'a+b/c==', 'e4c2-7_f'])(
    'names the request %s of a message that fails',
    async (requestId) => {
      await handle([JSON.stringify({ nth: '1', requestId })]);
      expect(logged).toMatchObject([['record failed', { record: 'message-0', requestId }]]);
    },
  );

  it('handles the messages of a batch at the same time', async () => {
    const all = Promise.withResolvers<void>();
    let started = 0;
    const handler = consumeQueue(Message, () => {
      if (++started === 3) all.resolve();
      return all.promise;
    });
    expect(failuresOf(await handler(queueEvent(['{"nth":0}', '{"nth":1}', '{"nth":2}']), context))).toEqual([]);
  });
});

describe('a function of the stream', () => {
  async function handle(images: Images[], fails: (change: Change) => boolean = () => false) {
    const handled: Change[] = [];
    const handler = consumeStream(async (change) => {
      if (fails(change)) throw new Error('It does not work.');
      handled.push(change);
    });
    return { handled, failures: failuresOf(await handler(streamEvent(...images), context)) };
  }

  const before = { pk: 'O#one#T', sk: 'A', dependents: new Set(['x']), count: 1 };
  const after = { ...before, count: 2 };

  it('is given the organization, and the item before and after', async () => {
    const { handled } = await handle([{ before, after }]);
    expect(handled).toEqual([{ organization: 'one', before, after }]);
  });

  it('is given no item before a creation, and none after a deletion', async () => {
    const { handled } = await handle([{ after }, { before }]);
    expect(handled).toEqual([
      { organization: 'one', before: undefined, after },
      { organization: 'one', before, after: undefined },
    ]);
  });

  it('returns exactly the records that failed, by their sequence numbers', async () => {
    const images = [{ after }, { before, after }, { after }];
    const { handled, failures } = await handle(images, (change) => change.before !== undefined);
    expect(handled).toHaveLength(2);
    expect(failures).toEqual(['101']);
  });

  it('makes a dead letter of an invalid record, and handles the others', async () => {
    const { handled, failures } = await handle([{ after }, {}, { after }]);
    expect(handled).toHaveLength(2);
    expect(failures).toEqual([]);
    expect(setAside).toEqual([[{ message: streamEvent({ after }, {}).Records[1], delaySeconds: 0 }]]);
    expect(logged).toMatchObject([['change set aside', { record: 'event-1' }]]);
  });

  it('returns a record that can neither be handled nor become a dead letter', async () => {
    sendDeadLetters.mockRejectedValue(new Error('The queue is away.'));
    const { handled, failures } = await handle([{ after }, {}, { after }]);
    expect(handled).toHaveLength(2);
    expect(failures).toEqual(['101']);
  });

  it('answers and does not throw when every record fails', async () => {
    expect((await handle([{ after }, { after }], () => true)).failures).toEqual(['100', '101']);
  });
});
