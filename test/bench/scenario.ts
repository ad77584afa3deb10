import { type Arrival, faultsOf, latenciesOf, preciseNow } from './arrivals.ts';
import { sendOpenLoop } from './open-loop.ts';
import type { Receiver } from './receiver.ts';
import { type Cpu, cpuBetween, type Subject } from './subject.ts';

/** A subject, the receiver of its events, and its CPU use without any load, in ms a ms. */
export type Setup = { subject: Subject; receiver: Receiver; idle: Cpu };

/**
 * The result of a run: the ms from the request for each event to its arrival, deliveries a second from the first request to
 * the last arrival, and CPU ms an event with its deliveries.
 */
export type Run = { latencies: number[]; rate: number; cpu: Cpu };

/**
 * Publishes events of a new tenant on a schedule, and waits until its webhooks have received them.
 *
 * @throws Error if an event did not arrive exactly once at each webhook
 */
export function publishOnSchedule(
  setup: Setup,
  load: { perSecond: number; webhooks: number },
  seconds: number,
): Promise<Run> {
  const { perSecond, webhooks } = load;
  const count = perSecond * seconds;
  return measure(setup, { count, webhooks }, (send) => sendOpenLoop(perSecond, count, send));
}

/**
 * Publishes events of a new tenant by a number of callers, each without a pause.
 *
 * @throws Error if an event did not arrive exactly once at each webhook
 */
export function publishInBurst(
  setup: Setup,
  { events: count, callers, webhooks }: { events: number; callers: number; webhooks: number },
): Promise<Run> {
  return measure(setup, { count, webhooks }, async (send) => {
    let left = count;
    const caller = async () => {
      while (left-- > 0) await send();
    };
    await Promise.all(Array.from({ length: callers }, caller));
  });
}

async function measure(
  { subject, receiver, idle }: Setup,
  { count, webhooks }: { count: number; webhooks: number },
  load: (send: () => Promise<unknown>) => Promise<void>,
): Promise<Run> {
  const paths = Array.from({ length: webhooks }, (_, at) => `/hooks/${at + 1}`);
  const { publish, end } = await subject.subscribe(paths.map((path) => `${receiver.url}${path}`));
  const sentAt = new Map<string, number>();
  const send = () => {
    const title = `Event ${sentAt.size}`;
    sentAt.set(title, preciseNow());
    return publish(title);
  };
  const before = { cpu: subject.cpu(), at: preciseNow() };
  await load(send);
  const sentBy = preciseNow();
  await receiver.settle(count * webhooks);
  const tookMs = preciseNow() - before.at;
  const cpu = cpuBetween(before.cpu, subject.cpu());
  const arrivals: Arrival[] = await receiver.take();
  const faults = faultsOf(arrivals, paths, count);
  if (faults.length > 0) throw new Error(`${subject.name}: ${faults.join('\n')}`);
  // Nothing of this run may go on into the next.
  await end();
  const last = arrivals.reduce((latest, { at }) => Math.max(latest, at), sentBy);
  return {
    latencies: latenciesOf(arrivals, sentAt),
    rate: ((arrivals.length || count) * 1000) / (last - before.at),
    cpu: {
      service: (cpu.service - idle.service * tookMs) / count,
      store: (cpu.store - idle.store * tookMs) / count,
    },
  };
}
