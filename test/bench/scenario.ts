import { setTimeout as pause } from 'node:timers/promises';
import { faultsOf, preciseNow } from './receiver/arrivals.ts';
import type { Receiver } from './receiver/receiver.ts';
import { cpuUsedBy, type Publisher } from './service.ts';

/** A service, the receiver of its events, and its CPU use without any load, in ms a ms. */
export type Setup = { service: Publisher; receiver: Receiver; idle: number };

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
  return measure(setup, load, (send) => byCallers(load.callers, load.count, send));
}

async function measure(
  { service, receiver, idle }: Setup,
  { count, webhooks }: Load,
  load: (send: () => Promise<unknown>) => Promise<void>,
): Promise<Run> {
  const paths = Array.from({ length: webhooks }, (_, at) => `/hooks/${at + 1}`);
  const subscription = paths.map((path) => `${receiver.url}${path}`);
  const { publish, unsubscribe } = await service.subscribe(subscription);
  const sentAt = new Map<string, number>();
  const startedAt = preciseNow();
  let sentBy = startedAt;
  const cpuMs = await cpuUsedBy({ service, idle }, async () => {
    await load(() => {
      const title = `Event ${sentAt.size}`;
      sentAt.set(title, preciseNow());
      return publish(title);
    });
    sentBy = preciseNow();
    await receiver.settle(count * webhooks);
  });
  const arrivals = await receiver.take();
  const faults = faultsOf(arrivals, paths, count);
  if (faults.length > 0) throw new Error(`${service.name}: ${faults.join('\n')}`);
  // Nothing of this run may go on into the next.
  await unsubscribe();
  const last = arrivals.reduce((latest, { at }) => Math.max(latest, at), sentBy);
  return {
    latencies: arrivals.map(({ at, title }) => at - (sentAt.get(title) ?? Number.NaN)),
    rate: ((arrivals.length || count) * 1000) / (last - startedAt),
    cpu: cpuMs / count,
  };
}

/** Carries out a number of actions by callers, each without a pause. An action gets the number of its caller, from 0. */
export async function byCallers(
  callers: number,
  count: number,
  act: (caller: number) => Promise<unknown>,
): Promise<void> {
  let left = count;
  const callerOf = async (_: unknown, caller: number) => {
    while (left-- > 0) await act(caller);
  };
  await Promise.all(Array.from({ length: callers }, callerOf));
}
