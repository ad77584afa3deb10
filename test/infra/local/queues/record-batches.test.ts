import { describe, expect, it } from 'vitest';
import { createQueues, sendersOf } from '../../../../infra/local/queues/queues.ts';
import {
  type HandledBatch,
  oldestBatches,
  type RecordBatch,
  removeFinished,
  runForBatches,
} from '../../../../infra/local/queues/record-batches.ts';
import type { Organization } from '../../../../lib/contract/organization.ts';
import type { DeliveryMessage } from '../../../../lib/names/messages.ts';
import { readRetrySchedule } from '../../../../lib/settings/retry-schedule.ts';
import { sendAttemptMessages } from '../../../../lib/webhooks/attempts/attempt-messages.ts';

const newBatch = (number = 0, messages = 0, shard = '0'): RecordBatch => ({ shard, number, messages });
const batch = (position: string, messages: number): HandledBatch => ({
  batch: newBatch(Number(position), messages),
  position,
});

describe('removeFinished', () => {
  it('returns the position of the last finished batch before the first open one, and the last once all are finished', () => {
    const { done, open } = removeFinished([batch('1', 0), batch('2', 0), batch('3', 1), batch('4', 0)]);
    expect(done).toBe('2');
    expect(open).toMatchObject([{ position: '4', batch: { messages: 1 } }]);
    expect(removeFinished(open).done).toBeUndefined();
    for (const { batch } of open) batch.messages = 0;
    expect(removeFinished(open)).toEqual({ done: '4', open: [] });
  });

  it('keeps open batches only, however many finished ones follow', () => {
    let open = [batch('0', 1)];
    for (let position = 1; position <= 1_000; position++)
      open = removeFinished([...open, batch(String(position), 0)]).open;
    expect(open).toHaveLength(1);
  });
});

describe('oldestBatches', () => {
  it('returns the oldest batch of each shard, once', () => {
    const [first, second, other] = [newBatch(1), newBatch(2), newBatch(3, 0, '1')];
    expect(oldestBatches([second, other, first, second, first, other])).toEqual([first, other]);
    expect(oldestBatches([])).toEqual([]);
  });
});

it('a message belongs to the batches of the call that sends it, even if another call sends in the same turn of the event loop', async () => {
  const retrySchedule = readRetrySchedule(undefined);
  const context = { variables: {}, clients: {}, queues: sendersOf(createQueues()), clock: Date.now, retrySchedule };
  const batches = [newBatch(0), newBatch(1)];
  const message: DeliveryMessage = {
    ...{ organization: 'local' as Organization, webhookId: 'wh_01K00000000000000000000000' },
    ...{ deliveryId: 'dlv_01K00000000000000000000000', attempt: 1, dueAt: '2026-03-01T12:00:00.000Z', slow: true },
  };
  await Promise.all(batches.map((batch) => runForBatches([batch], () => sendAttemptMessages(context, [message]))));
  expect(batches.map(({ messages }) => messages)).toEqual([1, 1]);
});
