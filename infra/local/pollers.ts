import { fileNameOf } from '../../lib/contract/routes.ts';
import { type ConsumerName, consumers, type Source } from '../../lib/deployment/consumers.ts';
import { concurrencyBounds, pollingOf, usualLambdaConcurrency } from '../../lib/deployment/polling.ts';
import type { DataFolder } from './data-folder.ts';
import { contextOf, type Handler, loadHandler } from './functions.ts';
import { pollQueue, type Stop, stopWithinMs, waited } from './queues/queue-poller.ts';
import type { Queues } from './queues/queues.ts';
import { type ChangeSignal, signalChange } from './stream/change-signal.ts';
import { pollStream } from './stream/stream-poller.ts';
import { createPositionStore } from './stream/stream-positions.ts';

/** The event sources of the consumers. */
export type Sources = { endpoint: string; tableName: string; queues: Queues; data: DataFolder; signal: ChangeSignal };

/**
 * The polling of each queue: the defaults of AWS, but with the highest concurrency for executions. `RUNNING_CAP` may be
 * higher on one machine, because a call that waits for a model needs no container of its own there.
 */
const polling = pollingOf(usualLambdaConcurrency, { executions: { concurrency: concurrencyBounds.most } });

/** The consumers whose calls write changes that the stream's consumers handle. The calls of all others signal nothing. */
const changing: readonly ConsumerName[] = ['runExecution', 'purgeAgent'];

/** A time that is later than every due time. */
const endOfTime = '9999-12-31T23:59:59.999Z';

/**
 * Starts the event sources of all consumers, as Lambda's event source mappings and EventBridge's schedules do in AWS. At the
 * start each schedule is called once for all work with a due time, because the queues start empty.
 *
 * @returns a function that stops all event sources
 */
export async function startPollers(sources: Sources): Promise<Stop> {
  const names = Object.keys(consumers) as ConsumerName[];
  const ofStream: Stop[] = [];
  const others: Stop[] = [];
  await Promise.all(
    names.map(async (name) => {
      const handler = changing.includes(name) ? signalling(await load(name), sources.signal) : await load(name);
      const called = { name, timeoutSeconds: consumers[name].timeoutSeconds, handler };
      const rows: readonly Source[] = consumers[name].sources;
      await Promise.all(
        rows.map(async (source) => {
          const stop = await startPoller(called, source, sources);
          ('stream' in source ? ofStream : others).push(stop);
        }),
      );
    }),
  );
  return async () => {
    // The stream last: it then stores a position above the first attempts that the others have finished.
    for (const stops of [others, ofStream]) await Promise.all(stops.map((stop) => stop()));
  };
}

const load = (name: ConsumerName) => loadHandler('pipeline', fileNameOf(name));

/** Returns a handler that signals a change after each call. */
function signalling(handler: Handler, signal: ChangeSignal): Handler {
  return (event, context) => handler(event, context).finally(() => signalChange(signal));
}

/** A function that event sources call. */
type Called = { name: ConsumerName; timeoutSeconds: number; handler: Handler };

async function startPoller(
  called: Called,
  source: Source,
  { endpoint, tableName, queues, data, signal }: Sources,
): Promise<Stop> {
  if ('stream' in source) {
    const { kinds, batchSize } = source;
    const positions = createPositionStore(data);
    return pollStream({ ...called, endpoint, tableName, kinds, batchSize, positions, signal });
  }
  if ('queue' in source) {
    const { queue } = source;
    return pollQueue({ ...called, queue: queues[queue], ...polling[queue] });
  }
  const { handler, name, timeoutSeconds } = called;
  const { job, everySeconds } = source;
  const calls = new Set<Promise<unknown>>();
  const call = (until?: string) => {
    const current = handler({ detail: { job, until } }, contextOf(name, timeoutSeconds))
      .catch(console.error)
      .finally(() => calls.delete(current));
    calls.add(current);
  };
  // The start does not wait for it: a purge can take minutes.
  call(endOfTime);
  const timer = setInterval(call, everySeconds * 1000);
  return async () => {
    clearInterval(timer);
    await Promise.race([Promise.all(calls), waited(stopWithinMs)]);
  };
}
