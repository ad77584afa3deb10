import { describe, expect, it } from 'vitest';
import { createQueues, senderOf } from '../../../../infra/local/queues/queues.ts';
import {
  type HandledBatch,
  type RecordBatch,
  recordBatchesOfCall,
  sendingFor,
  settle,
} from '../../../../infra/local/queues/record-batches.ts';
import type { Organization } from '../../../../lib/contract/organization.ts';
import type { DeliveryMessage } from '../../../../lib/deployment/messages.ts';
import { type DeliveryQueues, deliveryQueues, openWakeUps } from '../../../../lib/webhooks/wake-ups.ts';

/** A handled batch with so many messages left. */
const batch = (position: string, messages: number): HandledBatch => ({ batch: { messages }, position });

describe('the batches of a shard', () => {
  it('are done up to the first that has messages left', () => {
    const { done, open } = settle([batch('1', 0), batch('2', 0), batch('3', 1), batch('4', 0)]);
    expect(done).toBe('2');
    expect(open).toMatchObject([{ position: '4', batch: { messages: 1 } }]);
  });

  it('are done up to the last once none has messages left', () => {
    const first = settle([batch('1', 1), batch('2', 0), batch('3', 1), batch('4', 0)]);
    expect(first.done).toBeUndefined();
    for (const { batch } of first.open) batch.messages = 0;
    expect(settle(first.open)).toEqual({ done: '4', open: [] });
  });

  it('are no more than those that have messages left, however many follow', () => {
    let open = [batch('0', 1)];
    for (let position = 1; position <= 1_000; position++) open = settle([...open, batch(String(position), 0)]).open;
    expect(open).toHaveLength(1);
  });
});

it('a handler call sends for its batches, also after it has waited; nothing else does', async () => {
  const [one, other]: RecordBatch[] = [{ messages: 0 }, { messages: 0 }];
  const calls = [[one], [other], []].map((batches) =>
    sendingFor(batches as RecordBatch[], async () => {
      await Promise.resolve();
      return recordBatchesOfCall();
    }),
  );
  expect(await Promise.all(calls)).toEqual([[one], [other], []]);
  expect(recordBatchesOfCall()).toEqual([]);
});

it('a message belongs to the call that sends it, though another call sends in the same turn of the event loop', async () => {
  const queues = createQueues();
  const { send } = openWakeUps(
    Object.fromEntries(deliveryQueues.map((name) => [name, senderOf(queues[name])])) as DeliveryQueues,
    Date.now,
  );
  const batches: RecordBatch[] = [{ messages: 0 }, { messages: 0 }];
  const message: DeliveryMessage = {
    organization: 'local' as Organization,
    webhookId: 'wh_01K00000000000000000000000',
    deliveryId: 'dlv_01K00000000000000000000000',
    attempt: 1,
    dueAt: '2026-03-01T12:00:00.000Z',
    slow: true,
  };
  await Promise.all(batches.map((batch) => sendingFor([batch], () => send([message]))));
  expect(batches).toEqual([{ messages: 1 }, { messages: 1 }]);
});
