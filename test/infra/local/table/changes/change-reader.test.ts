import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { expect, it, onTestFinished, vi } from 'vitest';
import * as queues from '../../../../../infra/local/queues/memory-queue.ts';
import type { Wait } from '../../../../../infra/local/queues/queue-poller.ts';
import { readChanges } from '../../../../../infra/local/table/changes/change-reader.ts';
import type { LocalTable } from '../../../../../infra/local/table/local-table.ts';
import { openTestTable, tableName as TableName } from '../test-table.ts';

const nameIn = ({ dynamodb }: DynamoDBRecord) => dynamodb?.Keys?.pk?.S as string;

/** Handles a batch in a test. Returns the names of the changes that fail, if any. */
type Handling = (names: string[], call: number) => string[] | undefined | Promise<string[] | undefined>;

const put = async ({ table }: LocalTable, names: Iterable<string>, kind = 'task') => {
  for (const pk of names) await table.client.send(new PutCommand({ TableName, Item: { pk, sk: 'x', kind } }));
};

/** Returns the names of the changes that are not deleted. */
const remaining = ({ changes }: LocalTable) => changes.after(undefined, 100).map(nameIn);

/** Reads the changes of a table. Records every batch before it is handled, and the waits after errors. */
function read(local: LocalTable, handle: Handling = () => undefined, batchSize = 100) {
  const batches: string[][] = [];
  const handler = async (event: unknown) => {
    const { Records } = event as DynamoDBStreamEvent;
    const names = Records.map(nameIn);
    batches.push(names);
    const failing = (await handle(names, batches.length)) ?? [];
    const failed = Records.filter((record) => failing.includes(nameIn(record)));
    return { batchItemFailures: failed.map(({ dynamodb }) => ({ itemIdentifier: dynamodb?.SequenceNumber })) };
  };
  const pauses: number[] = [];
  const wait: Wait = async (milliseconds) => void pauses.push(milliseconds);
  const mapping = { name: 'test', changes: local.changes, handler, batchSize, timeoutSeconds: 60 };
  const stop = readChanges(mapping, wait);
  onTestFinished(stop);
  const received = (name: string) => vi.waitFor(() => expect(batches.flat()).toContain(name));
  return { batches, pauses, stop, received };
}

const letters = [...'abcdefghij'];

it('gives changes to the handler in their order: older ones at its start, and new ones after their commit', async () => {
  const local = openTestTable();
  await put(local, 'ab');
  const { batches, received } = read(local);
  await received('b');
  await put(local, ['not a task'], 'webhook');
  await put(local, 'c');
  await received('c');
  expect(batches).toEqual([['a', 'b'], ['c']]);
});

it('reads changes that are recorded while it handles others', async () => {
  const local = openTestTable();
  await put(local, 'a');
  const { batches, received } = read(local, (names) =>
    names.includes('a') ? put(local, 'b').then(() => undefined) : undefined,
  );
  await received('b');
  expect(batches).toEqual([['a'], ['b']]);
});

it('gives the handler at most the batch size, and retries from the failed change, as often as it fails', async () => {
  const local = openTestTable();
  await put(local, letters);
  const fail: Handling = (_, call) => ({ 2: ['f', 'h'], 3: ['f'] })[call];
  const { batches, received } = read(local, fail, 4);
  await received('j');
  expect(batches).toEqual([[...'abcd'], [...'efgh'], [...'fghi'], [...'fghi'], [...'j']]);
});

it('retries a whole batch if the handler throws, and waits longer after each failure', async () => {
  const error = vi.spyOn(console, 'error').mockImplementation(() => {});
  const local = openTestTable();
  await put(local, 'ab');
  const { batches, pauses, received } = read(local, (_, call) => {
    if (call <= 9) throw new Error('for the test');
    return undefined;
  });
  await vi.waitFor(() => expect(batches).toHaveLength(10));
  await put(local, 'c');
  await received('c');
  expect(batches).toEqual([...Array.from({ length: 10 }, () => ['a', 'b']), ['c']]);
  expect(pauses).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000]);
  expect(error).toHaveBeenCalledTimes(9);
});

it('deletes changes after they are handled, and stops after the current call has ended', async () => {
  const local = openTestTable();
  const { promise: gate, resolve: go } = Promise.withResolvers<undefined>();
  await put(local, 'a');
  const { batches, stop, received } = read(local, () => gate);
  await received('a');
  const hasStopped = vi.fn();
  const stopped = stop().then(hasStopped);
  await put(local, 'b');
  expect([hasStopped.mock.calls, remaining(local)]).toEqual([[], ['a', 'b']]);
  go(undefined);
  await stopped;
  await put(local, ['next write']);
  expect([batches, remaining(local)]).toEqual([[['a']], ['b', 'next write']]);
});

/** Handles changes in batches of one, and sends a message of a first attempt for each. */
async function readAttempts() {
  const local = openTestTable();
  const queue = queues.createMemoryQueue({ visibilitySeconds: 30, holdsPosition: true });
  await put(local, letters);
  const send: Handling = ([body = '']) => void queues.enqueueMessages(queue, [{ body, delaySeconds: 0 }]);
  const { received, stop } = read(local, send, 1);
  await received('j');
  /** Deletes the messages of these changes, as after their attempts. */
  const attempt = (names: string[]) => {
    for (const { body, receiptHandle } of queues.receiveMessages(queue, 100))
      if (names.includes(body)) queues.deleteMessage(queue, receiptHandle);
  };
  return { local, attempt, stop };
}

it('keeps changes from the first one whose first attempt is not made, for the next start', async () => {
  const { local, attempt, stop } = await readAttempts();
  attempt([...'abdefghij']);
  await stop();
  await put(local, ['next write'], 'other');
  const next = read(local, undefined, 1);
  await next.received('j');
  expect(next.batches.flat()).toEqual([...'cdefghij']);
});

it('deletes the changes after their last first attempt, without further changes', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { local, attempt } = await readAttempts();
  attempt(letters);
  const forget = vi.spyOn(local.changes, 'forget');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(forget).toHaveBeenCalledWith('10');
});
