import { type Arrival, faultsOf, latenciesOf, preciseNow } from './arrivals.ts';
import { busyShare, coreTimes } from './machine-busy.ts';
import { type Sent, sendOpenLoop } from './open-loop.ts';
import type { Receiver } from './receiver.ts';
import { hangingPath } from './receiver-process.ts';
import { type Cpu, cpuBetween, type Subject } from './subject.ts';

/** A load: so many events a second, each for so many webhooks, so many of which never answer. */
export type Scenario = { perSecond: number; webhooks: number; hanging: number };

/** How long a scenario is warmed up, and how often and how long it is measured then. */
export type Pace = { warmUpSeconds: number; runs: number; seconds: number };

/** What is measured, the receiver of its events, and its CPU use without any load, in ms a ms. */
export type Stage = { subject: Subject; receiver: Receiver; idle: Cpu };

/**
 * The result of a run: the ms from the request for each event to its arrival, deliveries a second from the first request to
 * the last arrival, CPU ms an event with its deliveries, the share of the machine's cores that was busy, and the sending.
 */
export type Run = { latencies: number[]; rate: number; cpu: Cpu; busy: number; sent: Sent };

/**
 * Publishes events of a new tenant on a schedule, and waits until its webhooks have received them, run after run.
 *
 * @throws Error where an event did not arrive exactly once at each webhook that answers
 */
export async function play(stage: Stage, scenario: Scenario, pace: Pace): Promise<Run[]> {
  const { perSecond, webhooks, hanging } = scenario;
  const paths = [...names('/hooks', webhooks - hanging), ...names(hangingPath, hanging)];
  return subscribed(stage, paths, async (publish) => {
    const run = (seconds: number) =>
      measured(stage, paths, publish, (send) => sendOpenLoop(perSecond, perSecond * seconds, send));
    if (pace.warmUpSeconds > 0) await run(pace.warmUpSeconds);
    const runs: Run[] = [];
    for (let nth = 0; nth < pace.runs; nth++) runs.push(await run(pace.seconds));
    return runs;
  });
}

/**
 * Publishes events of a new tenant as fast as so many callers get their answers.
 *
 * @throws Error where an event did not arrive exactly once at each webhook
 */
export async function burst(stage: Stage, load: { events: number; callers: number; webhooks: number }): Promise<Run> {
  const { events, callers, webhooks } = load;
  const paths = names('/hooks', webhooks);
  return subscribed(stage, paths, (publish) =>
    measured(stage, paths, publish, async (send) => {
      let left = events;
      const caller = async () => {
        while (left-- > 0) await send();
      };
      await Promise.all(Array.from({ length: callers }, caller));
      return { count: events, late: 0, latestMs: 0 };
    }),
  );
}

const names = (from: string, count: number) => Array.from({ length: count }, (_, at) => `${from}/${at + 1}`);

type Publish = (title: string) => Promise<unknown>;

async function subscribed<Result>(
  { subject, receiver }: Stage,
  paths: readonly string[],
  act: (publish: Publish) => Promise<Result>,
): Promise<Result> {
  const { publish, end } = await subject.subscribe(paths.map((path) => `${receiver.url}${path}`));
  const result = await act(publish);
  // Nothing of these runs may go on into the next. Deleted first, so that an attempt that is broken off is the last.
  await end();
  await receiver.letGo();
  return result;
}

async function measured(
  { subject, receiver, idle }: Stage,
  paths: readonly string[],
  publish: Publish,
  load: (send: () => Promise<unknown>) => Promise<Sent>,
): Promise<Run> {
  const answering = paths.filter((path) => !path.startsWith(hangingPath));
  const sentAt = new Map<string, number>();
  const send = () => {
    const title = `Event ${sentAt.size}`;
    sentAt.set(title, preciseNow());
    return publish(title);
  };
  const before = { cpu: subject.cpu(), cores: coreTimes(), at: preciseNow() };
  const sent = await load(send);
  const sentBy = preciseNow();
  await receiver.settle(sent.count * answering.length);
  const tookMs = preciseNow() - before.at;
  const cpu = cpuBetween(before.cpu, subject.cpu());
  const busy = busyShare(before.cores, coreTimes());
  const arrivals: Arrival[] = await receiver.take();
  const faults = faultsOf(arrivals, answering, sent.count);
  if (faults.length > 0) throw new Error(`${subject.name}: ${faults.join('\n')}`);
  const last = arrivals.reduce((latest, { at }) => Math.max(latest, at), sentBy);
  return {
    latencies: latenciesOf(arrivals, sentAt),
    rate: ((arrivals.length || sent.count) * 1000) / (last - before.at),
    cpu: {
      service: (cpu.service - idle.service * tookMs) / sent.count,
      store: (cpu.store - idle.store * tookMs) / sent.count,
    },
    busy,
    sent,
  };
}
