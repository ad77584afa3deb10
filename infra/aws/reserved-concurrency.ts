import { type Consumer, type ConsumerName, consumers } from '../../lib/names/consumers.ts';
import { type PollingSettings, pollingOf } from '../../lib/settings/polling.ts';

/** The concurrency that Lambda keeps for functions without a reservation (AWS Lambda Developer Guide, "Configuring reserved concurrency"). */
const keptUnreserved = 100;

/**
 * The number of concurrent calls by the stream of the table. Each of its shards has calls of its own. A new table has about four
 * shards, and for each of them the successor also has calls while the last records of a shard are read.
 */
const streamCalls = 10;

/** The settings that determine whether reservations are valid. */
type Reservations = {
  reservedConcurrency: Readonly<Partial<Record<string, number>>>;
  lambdaConcurrency: number;
  queues: PollingSettings;
};

/**
 * Returns the errors in the reserved concurrency of a stack: a sum above the quota of the account, or a reservation of a
 * consumer below the number of concurrent calls by its sources. Lambda would throttle the other calls, and a message that
 * is throttled five times becomes a dead letter.
 */
export function reservationFaults({ reservedConcurrency, lambdaConcurrency, queues }: Reservations): string[] {
  const polling = pollingOf(lambdaConcurrency, queues);
  const tooFew = (Object.entries(consumers) as [ConsumerName, Consumer][]).flatMap(([name, { sources }]) => {
    const calls = sources.reduce((sum, source) => {
      if ('queue' in source) return sum + polling[source.queue].concurrency;
      return sum + ('stream' in source ? source.concurrency * streamCalls : 1);
    }, 0);
    const reserved = reservedConcurrency[name];
    if (reserved === undefined || reserved >= calls) return [];
    const reason = sources.some((source) => 'stream' in source)
      ? 'because each shard of the table’s stream needs a call of its own'
      : 'the number of concurrent calls by its sources';
    return [`reservedConcurrency.${name} must be at least ${calls}, ${reason}, not ${reserved}`];
  });
  const sum = Object.values(reservedConcurrency).reduce((total: number, one) => total + (one ?? 0), 0);
  const most = Math.max(0, lambdaConcurrency - keptUnreserved);
  if (sum <= most) return tooFew;
  return [
    ...tooFew,
    `reservedConcurrency must be at most ${most} in all, not ${sum}: Lambda keeps ${keptUnreserved} of lambdaConcurrency (${lambdaConcurrency}) unreserved`,
  ];
}
