import { type Consumer, type ConsumerName, consumers } from '../../lib/contract/consumers.ts';
import { fileNameOf } from '../../lib/contract/endpoints.ts';
import type { DataFolder } from './data-folder.ts';
import { contextOf, type Handler, loadHandler } from './functions.ts';
import { pollQueue, type Stop } from './queue-poller.ts';
import type { Queues } from './queues.ts';
import { type Positions, pollStream } from './stream-poller.ts';

/** What the consumers are fed from. */
export type Sources = { endpoint: string; tableName: string; queues: Queues; data: DataFolder };

/** How far the stream has been handled. */
const positionsFile = 'stream.json';

/** A call costs no container here: so many more run at once that a receiver that hangs delays no other. */
const callsForOneOfLambda = 16;

/** A time that everything that waits is due by. */
const allTime = '9999-12-31T23:59:59.999Z';

/**
 * Lambda's event source mappings and schedules: feeds every consumer of the contract by its handler. The schedules are
 * called once at the start for all time to come, because the queues start empty and the table knows what waited in them.
 */
export async function startPollers(sources: Sources): Promise<Stop> {
  const names = Object.keys(consumers) as ConsumerName[];
  const stops = await Promise.all(
    names.map(async (name) =>
      startPoller(name, consumers[name], await loadHandler('pipeline', fileNameOf(name)), sources),
    ),
  );
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}

async function startPoller(
  name: ConsumerName,
  consumer: Consumer,
  handler: Handler,
  { endpoint, tableName, queues, data }: Sources,
): Promise<Stop> {
  const { source, batchSize, concurrency, timeoutSeconds } = consumer;
  if ('stream' in source) {
    const positions = {
      read: () => JSON.parse(data.read(positionsFile) ?? '{}') as Positions,
      write: (positions: Positions) => data.write(positionsFile, JSON.stringify(positions)),
    };
    return pollStream({
      name,
      endpoint,
      tableName,
      handler,
      kinds: source.kinds,
      batchSize,
      timeoutSeconds,
      positions,
    });
  }
  if ('queue' in source)
    return pollQueue({
      name,
      endpoint: queues.endpoint,
      url: queues.urls[source.queue],
      handler,
      batchSize,
      concurrency: concurrency * callsForOneOfLambda,
      timeoutSeconds,
    });
  await handler({ detail: { until: allTime } }, contextOf(name, timeoutSeconds));
  const timer = setInterval(
    () => void handler({ detail: {} }, contextOf(name, timeoutSeconds)).catch(console.error),
    source.everySeconds * 1000,
  );
  return async () => clearInterval(timer);
}
