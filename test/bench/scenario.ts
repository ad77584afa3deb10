import { type Arrival, faultsOf, latenciesOf } from './arrivals.ts';
import { busyShare, coreTimes } from './machine-busy.ts';
import { type Sent, sendOpenLoop } from './open-loop.ts';
import { cpuOfTree } from './process-cpu.ts';
import type { Receiver } from './receiver.ts';
import { hangingPath } from './receiver-process.ts';
import type { Service } from './service.ts';

/** A load: so many events a second, each for so many webhooks, so many of which never answer. */
export type Scenario = { perSecond: number; webhooks: number; hanging: number };

/** How long a scenario is warmed up, and how often and how long it is measured then. */
export type Pace = { warmUpSeconds: number; runs: number; seconds: number };

/** What the parts of a benchmark of the started service share; `idle` is its CPU use without any load, in ms a ms. */
export type Stage = { service: Service; receiver: Receiver; idle: number };

/**
 * What a run came to: the ms from each event to its arrival, the service's CPU ms an event with all that it sets off,
 * which share of the machine's cores was busy with anything, and how the sending went.
 */
export type Run = { latencies: number[]; cpuMs: number; busy: number; sent: Sent };

/**
 * Puts tasks on the board of a new organization on a schedule, and hears of them at its webhooks, run after run.
 *
 * @throws Error where an event did not arrive exactly once at each webhook that answers
 */
export async function play({ service, receiver, idle }: Stage, scenario: Scenario, pace: Pace): Promise<Run[]> {
  const { perSecond, webhooks, hanging } = scenario;
  const api = await service.newOrganization();
  const names = (from: string, count: number) => Array.from({ length: count }, (_, at) => `${from}/${at + 1}`);
  const answering = names('/hooks', webhooks - hanging);
  const register = async (path: string) => {
    const webhook = { url: `${receiver.url}${path}`, events: ['task.created'], secret: 'a secret to sign with' };
    return (await api('POST', '/api/webhooks/register', webhook)).id as string;
  };
  for (const path of answering) await register(path);
  const hangs: string[] = [];
  for (const path of names(hangingPath, hanging)) hangs.push(await register(path));

  const run = async (seconds: number): Promise<{ sent: Sent; arrivals: Arrival[] }> => {
    const send = () => api('POST', '/api/kanban-tasks', { title: 'A task' });
    const sent = await sendOpenLoop(perSecond, perSecond * seconds, send);
    await receiver.settle(sent.count * answering.length);
    const arrivals = await receiver.take();
    const faults = faultsOf(arrivals, answering, sent.count);
    if (faults.length > 0) throw new Error(faults.join('\n'));
    return { sent, arrivals };
  };
  const measured = async (): Promise<Run> => {
    const before = { cpu: cpuOfTree(service.pid), cores: coreTimes(), at: performance.now() };
    const { sent, arrivals } = await run(pace.seconds);
    const cpu = cpuOfTree(service.pid) - before.cpu - idle * (performance.now() - before.at);
    const busy = busyShare(before.cores, coreTimes());
    return { latencies: latenciesOf(arrivals), cpuMs: cpu / sent.count, busy, sent };
  };
  await run(pace.warmUpSeconds);
  const runs: Run[] = [];
  for (let nth = 0; nth < pace.runs; nth++) runs.push(await measured());

  // Nothing of these runs may go on into the next. Deleted first, so that an attempt that is broken off is the last.
  for (const id of hangs) await api('DELETE', `/api/webhooks/${id}`);
  await receiver.letGo();
  return runs;
}
