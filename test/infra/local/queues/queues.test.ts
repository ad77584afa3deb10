import { expect, it, onTestFinished, vi } from 'vitest';
import { receiveMessages } from '../../../../infra/local/queues/memory-queue.ts';
import { createQueues, sendersOf } from '../../../../infra/local/queues/queues.ts';
import { queues as contractQueues, maxReceiveCount, workQueues } from '../../../../lib/names/queues.ts';

it('creates all queues with their visibility timeouts and the dead-letter queue', () => {
  const queues = createQueues();
  const timeouts = Object.entries(contractQueues).map(([name, row]) => [name, row.visibilitySeconds]);
  expect(Object.entries(queues).map(([name, queue]) => [name, queue.visibilitySeconds])).toEqual(timeouts);
  for (const name of workQueues)
    expect(queues[name].deadLetters).toEqual({ queue: queues.deadLetters, maxReceiveCount });
  expect(queues.deadLetters.deadLetters).toBeUndefined();
});

it('holds the stream position for first attempts only, because all other messages have a `due` entry', () => {
  const holding = Object.entries(createQueues()).filter(([, queue]) => queue.holdsPosition);
  expect(holding.map(([name]) => name)).toEqual(['deliveries', 'slowDeliveries']);
});

it('sends messages as JSON, each with its delay', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const queues = createQueues();
  const received = () => receiveMessages(queues.executions, 10).map(({ body }) => body);
  await sendersOf(queues).get('executions')?.([
    { message: { nth: 1 }, delaySeconds: 0 },
    { message: { nth: 2 }, delaySeconds: 60 },
  ]);
  expect(received()).toEqual(['{"nth":1}']);
  vi.advanceTimersByTime(60_000);
  expect(received()).toEqual(['{"nth":2}']);
});
