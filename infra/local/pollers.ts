import { fileNameOf } from '../../lib/contract/routes.ts';
import { type ConsumerName, consumers, type Source } from '../../lib/deployment/consumers.ts';
import { concurrencyBounds, pollingOf, usualLambdaConcurrency } from '../../lib/deployment/polling.ts';
import type { DataFolder } from './data-folder.ts';
import { contextOf, type Handler, loadHandler } from './functions.ts';
import { pollQueue, type Stop } from './queues/queue-poller.ts';
import type { Queues } from './queues/queues.ts';
import type { Bell } from './stream/change-signal.ts';
import { pollStream } from './stream/stream-poller.ts';
import { positionsOf } from './stream/stream-positions.ts';

/** What the consumers are fed from. */
export type Sources = { endpoint: string; tableName: string; queues: Queues; data: DataFolder; bell: Bell };

/**
 * The defaults of AWS. Executions have more: `RUNNING_CAP` may be higher on one machine, where a call that waits for a
 * model costs no container.
 */
const polling = pollingOf(usualLambdaConcurrency, { executions: { concurrency: concurrencyBounds.most } });

/** Whose calls change what the stream is read for. What the others change wakes nobody, and is not looked for at once. */
const changing: readonly ConsumerName[] = ['runExecution', 'purgeAgent'];

/** A time that everything that waits is due by. */
const allTime = '9999-12-31T23:59:59.999Z';

/**
 * Lambda's event source mappings and schedules: feeds every consumer of the contract by its handler. The schedules are
 * called once at the start for all time to come, because the queues start empty and the table knows what waited in them.
 */
export async function startPollers(sources: Sources): Promise<Stop> {
  const names = Object.keys(consumers) as ConsumerName[];
  const ofStream: Stop[] = [];
  const others: Stop[] = [];
  await Promise.all(
    names.map(async (name) => {
      const handler = changing.includes(name) ? ringing(await load(name), sources.bell) : await load(name);
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
    // The stream last: the position that it keeps is above the first attempts that the others have ended.
    for (const stops of [others, ofStream]) await Promise.all(stops.map((stop) => stop()));
  };
}

const load = (name: ConsumerName) => loadHandler('pipeline', fileNameOf(name));

/** A handler after whose calls the bell rings. */
function ringing(handler: Handler, bell: Bell): Handler {
  return (event, context) => handler(event, context).finally(bell.ring);
}

/** A function that sources call. */
type Called = { name: ConsumerName; timeoutSeconds: number; handler: Handler };

async function startPoller(
  called: Called,
  source: Source,
  { endpoint, tableName, queues, data, bell }: Sources,
): Promise<Stop> {
  if ('stream' in source) {
    const { kinds, batchSize } = source;
    return pollStream({ ...called, endpoint, tableName, kinds, batchSize, positions: positionsOf(data), bell });
  }
  if ('queue' in source) {
    const { queue } = source;
    return pollQueue({ ...called, queue: queues[queue], ...polling[queue] });
  }
  const { handler, name, timeoutSeconds } = called;
  const { job, everySeconds } = source;
  await handler({ detail: { job, until: allTime } }, contextOf(name, timeoutSeconds));
  const timer = setInterval(
    () => void handler({ detail: { job } }, contextOf(name, timeoutSeconds)).catch(console.error),
    everySeconds * 1000,
  );
  return async () => clearInterval(timer);
}
