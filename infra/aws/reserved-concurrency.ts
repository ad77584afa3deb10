import { type Consumer, type ConsumerName, consumers } from '../../lib/deployment/consumers.ts';
import { type PollingSettings, pollingOf } from '../../lib/deployment/polling.ts';

/** What Lambda keeps for the functions without a reservation (AWS Lambda Developer Guide, "Configuring reserved concurrency"). */
const keptUnreserved = 100;

/** The settings that decide whether reservations can be deployed. */
type Reservations = {
  reservedConcurrency: Readonly<Partial<Record<string, number>>>;
  lambdaConcurrency: number;
  queues: PollingSettings;
};

/**
 * Returns what is wrong with the reserved concurrency of a stack: more than the account has, or less for a consumer than
 * its sources may call at the same time. Lambda refuses the other calls, and a message that is refused five times becomes a
 * dead letter.
 */
export function reservationFaults({ reservedConcurrency, lambdaConcurrency, queues }: Reservations): string[] {
  const polling = pollingOf(lambdaConcurrency, queues);
  const tooFew = (Object.entries(consumers) as [ConsumerName, Consumer][]).flatMap(([name, { sources }]) => {
    const calls = sources.reduce((sum, source) => {
      if ('queue' in source) return sum + polling[source.queue].concurrency;
      return sum + ('stream' in source ? source.concurrency : 1);
    }, 0);
    const reserved = reservedConcurrency[name];
    if (reserved === undefined || reserved >= calls) return [];
    return [
      `reservedConcurrency.${name} must be at least ${calls}, what its sources call at the same time, not ${reserved}`,
    ];
  });
  const sum = Object.values(reservedConcurrency).reduce((total: number, one) => total + (one ?? 0), 0);
  const most = Math.max(0, lambdaConcurrency - keptUnreserved);
  if (sum <= most) return tooFew;
  return [
    ...tooFew,
    `reservedConcurrency must be at most ${most} in all, not ${sum}: Lambda keeps ${keptUnreserved} of lambdaConcurrency (${lambdaConcurrency}) unreserved`,
  ];
}
