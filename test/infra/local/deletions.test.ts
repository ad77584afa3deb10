import type { SQSClient } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openDeletions } from '../../../infra/local/deletions.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A client that notes which handles each request deletes, and answers when it is told to. */
function notingClient(answer: () => Promise<unknown> = async () => {}) {
  const requests: string[][] = [];
  const send = ({ input }: { input: { Entries: { ReceiptHandle: string }[] } }) => {
    requests.push(input.Entries.map(({ ReceiptHandle }) => ReceiptHandle));
    return answer();
  };
  return { requests, client: { send } as unknown as SQSClient };
}

const handles = (count: number) => Array.from({ length: count }, (_, at) => `handle-${at}`);

it('deletes what comes within a fifth of a second in one request', async () => {
  const { requests, client } = notingClient();
  const deletions = openDeletions(client, 'url');
  deletions.add('a');
  await vi.advanceTimersByTimeAsync(199);
  deletions.add('b');
  expect(requests).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(requests).toEqual([['a', 'b']]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(requests).toHaveLength(1);
});

it('does not wait once there are ten, which is as many as SQS takes', () => {
  const { requests, client } = notingClient();
  const deletions = openDeletions(client, 'url');
  handles(25).forEach(deletions.add);
  expect(requests).toEqual([handles(25).slice(0, 10), handles(25).slice(10, 20)]);
});

it('ends when all is deleted, what still waits too', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { requests, client } = notingClient(() => promise);
  const deletions = openDeletions(client, 'url');
  deletions.add('a');
  let ended = false;
  const finished = deletions.finish().then(() => {
    ended = true;
  });
  await vi.advanceTimersByTimeAsync(0);
  expect([requests, ended]).toEqual([[['a']], false]);
  resolve();
  await finished;
});

it('goes on after a request that failed', async () => {
  const { requests, client } = notingClient(() => Promise.reject(new Error('a fault of the queue')));
  const deletions = openDeletions(client, 'url');
  deletions.add('a');
  await deletions.finish();
  deletions.add('b');
  await deletions.finish();
  expect(requests).toEqual([['a'], ['b']]);
});
