import { setTimeout as pause } from 'node:timers/promises';
import { faultsOf, preciseNow } from './arrivals.ts';
import type { Receiver } from './receiver.ts';
import { type Service, subscribe } from './service.ts';

/** A service, the receiver of its events, and its CPU use without any load, in ms a ms. */
export type Setup = { service: Service; receiver: Receiver; idle: number };

/** The number of events, and of the webhooks that receive each. */
type Load = { count: number; webhooks: number };

/**
 * The result of a run: the ms from the request for each event to its arrival, deliveries a second from the first request to
 * the last arrival, and CPU ms an event with its deliveries.
 */
export type Run = { latencies: number[]; rate: number; cpu: number };

/**
 * Publishes events of a new organization on a schedule that does not wait for responses, so that slow responses do not
 * slow the load down. Then waits until the webhooks have received them.
 *
 * @throws Error if an event did not arrive exactly once at each webhook
 */
export function publishOnSchedule(setup: Setup, load: Load & { perSecond: number }): Promise<Run> {
  return measure(setup, load, async (send) => {
    const startedAt = performance.now();
    const answers: Promise<unknown>[] = [];
    for (let nth = 0; nth < load.count; nth++) {
      const early = startedAt + (nth * 1000) / load.perSecond - performance.now();
      if (early > 0) await pause(early);
      const answer = send();
      // Thrown at the end; until then it must not count as unhandled.
      answer.catch(() => {});
      answers.push(answer);
    }
    await Promise.all(answers);
  });
}

/**
 * Publishes events of a new organization by a number of callers, each without a pause.
 *
 * @throws Error if an event did not arrive exactly once at each webhook
 */
export function publishInBurst(setup: Setup, load: Load & { callers: number }): Promise<Run> {
  return measure(setup, load, async (send) => {
    let left = load.count;
    const caller = async () => {
      while (left-- > 0) await send();
    };
    await Promise.all(Array.from({ length: load.callers }, caller));
  });
}

async function measure(
  { service, receiver, idle }: Setup,
  { count, webhooks }: Load,
  load: (send: () => Promise<unknown>) => Promise<void>,
): Promise<Run> {
  const paths = Array.from({ length: webhooks }, (_, at) => `/hooks/${at + 1}`);
  const subscription = paths.map((path) => `${receiver.url}${path}`);
  const { publish, unsubscribe } = await subscribe(service, subscription);
  const sentAt = new Map<string, number>();
  const before = { cpu: service.cpu(), at: preciseNow() };
  await load(() => {
    const title = `Event ${sentAt.size}`;
    sentAt.set(title, preciseNow());
    return publish(title);
  });
  const sentBy = preciseNow();
  await receiver.settle(count * webhooks);
  const tookMs = preciseNow() - before.at;
  const cpuMs = service.cpu() - before.cpu;
  const arrivals = await receiver.take();
  const faults = faultsOf(arrivals, paths, count);
  if (faults.length > 0) throw new Error(`${service.name}: ${faults.join('\n')}`);
  // Nothing of this run may go on into the next.
  await unsubscribe();
  const last = arrivals.reduce((latest, { at }) => Math.max(latest, at), sentBy);
  return {
    latencies: arrivals.map(({ at, title }) => at - (sentAt.get(title) ?? Number.NaN)),
    rate: ((arrivals.length || count) * 1000) / (last - before.at),
    cpu: (cpuMs - idle * tookMs) / count,
  };
}
