import { log } from '../../lib/context/log.ts';
import { fileNameOf } from '../../lib/contract/routes.ts';
import { type ConsumerName, consumers, type Source } from '../../lib/names/consumers.ts';
import { concurrencyBounds, pollingOf, usualLambdaConcurrency } from '../../lib/settings/polling.ts';
import { type StepListeners, watchClock } from './clock-watch.ts';
import { loadHandler } from './functions.ts';
import { pollQueue, type Stop } from './queues/queue-poller.ts';
import type { Queues } from './queues/queues.ts';
import { type Called, startSchedule } from './schedule.ts';
import { readChanges } from './table/changes/change-reader.ts';
import type { Changes } from './table/changes/changes.ts';

/** The event sources of the consumers. */
export type Sources = { changes: Changes; queues: Queues };

/**
 * The polling of each queue: the defaults of AWS, but with the highest concurrency for executions. `RUNNING_CAP` may be
 * higher on one machine, because a call that waits for a model needs no container of its own there.
 */
const polling = pollingOf(usualLambdaConcurrency, { executions: { concurrency: concurrencyBounds.most } });

/**
 * Starts the event sources of all consumers, as Lambda's event source mappings and EventBridge's schedules do in AWS.
 *
 * @returns a function that stops all event sources
 */
export async function startPollers(sources: Sources): Promise<Stop> {
  const names = Object.keys(consumers) as ConsumerName[];
  const ofStream: Stop[] = [];
  const others: Stop[] = [];
  const steps: StepListeners = new Set();
  await Promise.all(
    names.map(async (name) => {
      const handler = await loadHandler('pipeline', fileNameOf(name));
      const called = { name, timeoutSeconds: consumers[name].timeoutSeconds, handler };
      const rows: readonly Source[] = consumers[name].sources;
      await Promise.all(
        rows.map(async (source) => {
          const stop = await startPoller(called, source, sources, steps);
          ('stream' in source ? ofStream : others).push(stop);
        }),
      );
    }),
  );
  const stopWatching = watchClock(steps, log());
  return async () => {
    stopWatching();
    // The stream last: it then stores a position above the first attempts that the others have finished.
    for (const stops of [others, ofStream]) await Promise.all(stops.map((stop) => stop()));
  };
}

async function startPoller(
  called: Called,
  source: Source,
  { changes, queues }: Sources,
  steps: StepListeners,
): Promise<Stop> {
  if ('stream' in source) return readChanges({ ...called, changes, batchSize: source.batchSize });
  if ('queue' in source) {
    const { queue } = source;
    return pollQueue({ ...called, queue: queues[queue], ...polling[queue] });
  }
  return startSchedule(called, source, steps);
}
