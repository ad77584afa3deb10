import { marshall } from '@aws-sdk/util-dynamodb';
import type { DynamoDBRecord } from 'aws-lambda';
import * as v from 'valibot';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { contextOf } from '../../infra/local/functions.ts';
import type { QueueSender } from '../../lib/aws/queue.ts';
import { processContext, setProcessContext } from '../../lib/context/context.ts';
import type { Table } from '../../lib/table/access/client.ts';
import { consumeQueue, consumeStream, type TableChange } from '../../lib/workers/consume.ts';
import { queueEvent } from './queue-event.ts';

const sendDeadLetters = vi.fn<QueueSender>();
const queues = new Map([['deadLetters' as const, sendDeadLetters]]);
setProcessContext({ environment: {}, clock: Date.now, table: {} as Table, queues });
const context = contextOf('test', 30);
let logged: unknown[][];

beforeEach(() => {
  logged = [];
  vi.spyOn(processContext().log, 'error').mockImplementation((...line: unknown[]) => void logged.push(line));
  sendDeadLetters.mockReset().mockResolvedValue();
});

const failuresOf = ({ batchItemFailures }: { batchItemFailures: { itemIdentifier: string }[] }) =>
  batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);

describe('a function of a queue', () => {
  const Message = v.object({ nth: v.number() });

  /** Handles a batch: what was handled, and which messages come again. */
  async function handle(bodies: string[], fails: (nth: number) => boolean = () => false) {
    const handled: number[] = [];
    const handler = consumeQueue(Message, async ({ nth }, given) => {
      expect(given).toBe(processContext());
      if (fails(nth)) throw new Error(`${nth} does not work.`);
      handled.push(nth);
    });
    return { handled, failures: failuresOf(await handler(queueEvent(bodies), context)) };
  }

  it.each([
    ['no message if none failed', [0, 1], []],
    ['those that failed', [0], [1]],
    ['all if all failed', [], [0, 1]],
  ])('returns exactly %s, and logs which failed and why, once', async (_, handled, failing) => {
    const results = await handle(['{"nth":0}', '{"nth":1}'], (nth) => failing.includes(nth));
    expect(results).toEqual({ handled, failures: failing.map((nth) => `message-${nth}`) });
    const lineOf = (nth: number) => ({ record: `message-${nth}`, error: new Error(`${nth} does not work.`) });
    expect(logged).toEqual(failing.map((nth) => ['record failed', lineOf(nth)]));
  });

  it.each(['{"nth":', '', 'null', '[]', '{}', '{"nth":"1"}'])('does not handle %j, but the others', async (body) => {
    expect(await handle(['{"nth":0}', body, '{"nth":2}'])).toEqual({ handled: [0, 2], failures: ['message-1'] });
  });

  it('names the request of a message that fails', async () => {
    const requestId = 'a+b/c-7_F==';
    await handle([JSON.stringify({ nth: '1', requestId })]);
    expect(logged).toMatchObject([['record failed', { record: 'message-0', requestId }]]);
  });

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
  type Images = { before?: object; after?: object };

  const recordOf = ({ before, after }: Images, at: number): DynamoDBRecord => {
    const images = { ...(before && { OldImage: marshall(before) }), ...(after && { NewImage: marshall(after) }) };
    const dynamodb = { SequenceNumber: String(100 + at), ...(images as object) };
    return { eventID: `event-${at}`, eventSource: 'aws:dynamodb', dynamodb };
  };

  async function handle(images: Images[], fails: (change: TableChange) => boolean = () => false) {
    const handled: TableChange[] = [];
    const handler = consumeStream(async (change) => {
      if (fails(change)) throw new Error('It does not work.');
      handled.push(change);
    });
    return { handled, failures: failuresOf(await handler({ Records: images.map(recordOf) }, context)) };
  }

  const before = { pk: 'O#one#T', sk: 'A', dependents: new Set(['x']), count: 1 };
  const after = { ...before, count: 2 };

  it('is given the organization, and the item before and after, if there is one', async () => {
    const { handled } = await handle([{ before, after }, { after }, { before }]);
    expect(handled).toEqual([
      { organization: 'one', before, after, isRedriven: false },
      { organization: 'one', before: undefined, after, isRedriven: false },
      { organization: 'one', before, after: undefined, isRedriven: false },
    ]);
  });

  it('is told which change is redriven, and makes a dead letter without that mark of one that fails again', async () => {
    const handled: TableChange[] = [];
    const handler = consumeStream(async (change) => void handled.push(change));
    const [good, broken] = [recordOf({ after }, 0), recordOf({}, 1)];
    const Records = [good, broken].map((record) => ({ ...record, redriven: true }));
    expect(failuresOf(await handler({ Records }, context))).toEqual([]);
    expect(handled).toEqual([{ organization: 'one', before: undefined, after, isRedriven: true }]);
    expect(sendDeadLetters.mock.calls).toEqual([[[{ message: broken, delaySeconds: 0 }]]]);
  });

  it('returns exactly those that failed, by their sequence numbers', async () => {
    const { failures, handled } = await handle([{ after }, { before, after }, { after }], (change) => !!change.before);
    expect([failures, handled.length]).toEqual([['101'], 2]);
  });

  it('makes a dead letter of an invalid record, and handles the others', async () => {
    const { handled, failures } = await handle([{ after }, {}, { after }]);
    expect([handled.length, failures]).toEqual([2, []]);
    const letter = { message: recordOf({}, 1), delaySeconds: 0 };
    expect(sendDeadLetters.mock.calls).toEqual([[[letter]]]);
    expect(logged).toMatchObject([['change set aside', { record: 'event-1' }]]);
  });

  it('returns a record that can neither be handled nor become a dead letter', async () => {
    sendDeadLetters.mockRejectedValue(new Error('The queue is away.'));
    const { handled, failures } = await handle([{ after }, {}, { after }]);
    expect([handled.length, failures]).toEqual([2, ['101']]);
  });
});
