import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Client, waitForExecution } from '../../lib/client/client.ts';
import type { Execution } from '../../lib/client/operations.ts';

const running = { id: 'ex_1', status: 'running', qualityGates: { selfTest: 'pending', qaReview: 'pending' } };
const completed = { ...running, status: 'completed', qualityGates: { selfTest: 'passed', qaReview: 'passed' } };
const failed = { ...running, status: 'failed', error: 'deadline' };
const params = { name: 'builder', id: 'ex_1' };

/** Returns a client whose execution has these states, one for each read; then the last one. */
function clientOf(...states: object[]) {
  const getExecution = vi.fn<Client['getExecution']>();
  for (const [nth, data] of states.entries()) {
    const answer = { data: data as Execution, pagination: undefined, etag: undefined, replayed: false, requestId: 'r' };
    if (nth < states.length - 1) getExecution.mockResolvedValueOnce(answer);
    else getExecution.mockResolvedValue(answer);
  }
  return { getExecution };
}

/** Waits that end at once, and their durations. */
function countedWaits() {
  const waits: number[] = [];
  const wait = async (milliseconds: number) => void waits.push(milliseconds);
  return { waits, wait };
}

describe('the wait for an execution', () => {
  it.each([completed, failed])('returns the execution when it is $status', async (ended) => {
    const { wait } = countedWaits();
    const client = clientOf(running, running, ended);
    expect(await waitForExecution(client, { ...params, wait })).toEqual(ended);
    expect(client.getExecution).toHaveBeenCalledTimes(3);
    expect(client.getExecution.mock.calls[0]?.[0].params).toEqual(params);
  });

  it('does not wait if the execution has ended', async () => {
    const { waits, wait } = countedWaits();
    await waitForExecution(clientOf(completed), { ...params, wait });
    expect(waits).toEqual([]);
  });

  it('reads at growing intervals, from half a second to 10 seconds', async () => {
    const { waits, wait } = countedWaits();
    await waitForExecution(clientOf(...Array<object>(12).fill(running), completed), { ...params, wait });
    expect(waits.slice(0, 3)).toEqual([500, 750, 1125]);
    expect(waits.slice(-2)).toEqual([10_000, 10_000]);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  });

  it('reports the first state and each change', async () => {
    const { wait } = countedWaits();
    const states: string[] = [];
    const judged = { ...running, qualityGates: completed.qualityGates };
    await waitForExecution(clientOf(running, running, judged, judged, completed), {
      ...params,
      wait,
      onChange: ({ status, qualityGates }) => states.push(`${status}, ${qualityGates.selfTest}`),
    });
    expect(states).toEqual(['running, pending', 'running, passed', 'completed, passed']);
  });

  it('ends with the error of a read', async () => {
    const client = clientOf(running);
    client.getExecution.mockRejectedValueOnce(new Error('There is no such execution.'));
    await expect(waitForExecution(client, params)).rejects.toThrow('There is no such execution.');
  });
});

describe('the end of the wait for an execution', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    return () => vi.useRealTimers();
  });

  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is at the timeout, with an error that says what to do', async () => {
    const client = clientOf(running);
    const ended = expect(waitForExecution(client, { ...params, timeoutMs: 60_000 })).rejects.toMatchObject({
      name: 'CrewboardError',
      code: 'still_running',
      status: 0,
      message: 'The execution ex_1 has not ended within 60 seconds. It continues; wait again or raise timeoutMs.',
    });
    await vi.advanceTimersByTimeAsync(60_000);
    await ended;
  });

  it.each([
    ['after 15 minutes by default', {}, 15 * 60_000],
    ['late if the timeout is longer than a timer', { timeoutMs: Number.POSITIVE_INFINITY }, 2 ** 31 - 1],
  ])('is %s', async (_, options, endMs) => {
    let hasEnded = false;
    const ended = waitForExecution(clientOf(running), { ...params, wait: untilAborted, ...options }).catch(() => {
      hasEnded = true;
    });
    await vi.advanceTimersByTimeAsync(endMs - 1);
    expect(hasEnded).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await ended;
  });

  it('also ends a read that gets no response', async () => {
    const client = clientOf(running);
    client.getExecution.mockImplementation(({ signal }) => untilAborted(0, signal));
    const ended = expect(waitForExecution(client, { ...params, timeoutMs: 5000 })).rejects.toMatchObject({
      code: 'still_running',
    });
    await vi.advanceTimersByTimeAsync(5000);
    await ended;
  });

  it('is when the caller aborts, with the reason of the caller', async () => {
    const stopping = new AbortController();
    const { signal } = stopping;
    const ended = expect(waitForExecution(clientOf(running), { ...params, signal })).rejects.toThrow('enough');
    await vi.advanceTimersByTimeAsync(400);
    stopping.abort(new Error('enough'));
    await ended;
  });

  it('is before the first read if the caller has aborted before', async () => {
    const client = clientOf(completed);
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(waitForExecution(client, { ...params, signal })).rejects.toThrow('enough');
    expect(client.getExecution).not.toHaveBeenCalled();
  });

  /** Waits until the signal aborts, however long that takes. */
  function untilAborted(_: number, signal?: AbortSignal): Promise<never> {
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  }
});
