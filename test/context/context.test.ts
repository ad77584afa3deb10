import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { sendMessages } from '../../lib/aws/queue.ts';
import { createContext, processContext, setProcessContext } from '../../lib/context/context.ts';
import type { QueueName } from '../../lib/names/queues.ts';
import type { Table } from '../../lib/table/access/client.ts';

it('the context of a process has the table and the queues that it is given', async () => {
  const table = { name: 'given' } as Table;
  const sentTo: QueueName[] = [];
  const queues = new Map([['executions' as const, async () => void sentTo.push('executions')]]);
  setProcessContext({ environment: {}, clock: Date.now, table, queues });
  expect(processContext().table).toBe(table);
  await sendMessages(processContext(), 'executions', []);
  expect(sentTo).toEqual(['executions']);
});

describe('a pause', () => {
  const { pause } = createContext({ environment: {}, clock: Date.now, table: { name: 'given' } as Table });

  it.each([
    ['its time is over', () => vi.advanceTimersByTime(1_000)],
    ['its signal aborts', ({ abort }: { abort: () => void }) => abort()],
  ])('ends when %s, and leaves no timer and no listener', async (_, act) => {
    vi.useFakeTimers();
    const controller = new AbortController();
    let isOver = false;
    const paused = pause(1_000, controller.signal).then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(999);
    expect(isOver).toBe(false);
    act({ abort: () => controller.abort(null) });
    await paused;
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });

  it('does not begin if its signal has aborted', async () => {
    vi.useFakeTimers();
    await pause(1_000, AbortSignal.abort(null));
    expect(vi.getTimerCount()).toBe(0);
  });
});
