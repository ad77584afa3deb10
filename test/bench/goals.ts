import { type Bench, createFolder, type Part } from './bench.ts';
import { type EndReceiver, runExecutions, startEndReceiver } from './executions.ts';
import { figure, percentile } from './page/figures.ts';
import { type Column, type Figure, type Measured, measureInTurns, tableOfFigures } from './page/turns.ts';
import { type Receiver, startReceiver } from './receiver/receiver.ts';
import { publishInBurst, publishOnSchedule, type Setup } from './scenario.ts';
import { cpuUsedBy, idleCpuOf, type Service, startService, unlimited } from './service.ts';

const figures = {
  idle: { name: 'idle: % of a core', decimals: 1, atMost: 1.5 },
  restMemory: { name: 'memory at rest: MiB', decimals: 0 },
  burstRate: { name: 'burst of events for 1 webhook: deliveries/s', decimals: 0, atLeast: 1_100 },
  burstCpu: { name: 'the same: CPU ms an event with its delivery', decimals: 2, atMost: 1 },
  burstP50: { name: 'the same: p50 ms', decimals: 0, atMost: 150 },
  eventRate: { name: 'the same burst for no webhook: events/s', decimals: 0 },
  eventCpu: { name: 'the same: CPU ms an event', decimals: 2 },
  fanRate: { name: '50 events/s for 10 webhooks: deliveries/s', decimals: 0, atLeast: 495 },
  fanP50: { name: 'the same: p50 ms', decimals: 1 },
  fanP99: { name: 'the same: p99 ms', decimals: 1, atMost: 100 },
  fanCpu: { name: 'the same: CPU ms a delivery, a tenth of the event with it', decimals: 2 },
  singleP50: { name: '50 events/s for 1 webhook: p50 ms', decimals: 1, atMost: 4 },
  singleP99: { name: 'the same: p99 ms', decimals: 1, atMost: 8 },
  singleCpu: { name: 'the same: CPU ms an event with its delivery', decimals: 2, atMost: 4 },
  answeredP95: { name: 'execution of 1 caller: p95 ms to the response', decimals: 0, atMost: 50 },
  endedP50: { name: 'the same: p50 ms to its end', decimals: 0 },
  deliveredP50: { name: 'the same: p50 ms to the delivery of its end', decimals: 0, atMost: 250 },
  executionRate: { name: 'executions of 50 callers: a second', decimals: 0, atLeast: 450 },
  executionCpu: { name: 'executions: CPU ms each', decimals: 2, atMost: 2.5 },
  loadedMemory: { name: 'memory after the loads: MiB', decimals: 0, atMost: 300 },
} as const satisfies Record<string, Figure>;

const whole = {
  ...{ earlierEvents: 30_000, runs: 5, idleSeconds: 5, warmUpEvents: 300, burstEvents: 2_000, seconds: 8 },
  ...{ singleExecutions: 15, executions: 1_000 },
};
type Size = typeof whole;
const quick: Size = {
  ...{ earlierEvents: 100, runs: 1, idleSeconds: 0.5, warmUpEvents: 20, burstEvents: 100, seconds: 1 },
  ...{ singleExecutions: 2, executions: 50 },
};

const callers = 50;

type Measuring = Setup & { service: Service; ends: EndReceiver };

const measurements: readonly ((measuring: Measuring, size: Size) => Promise<Measured>)[] = [
  async ({ service }, { idleSeconds }) => ({ idle: (await idleCpuOf(service, idleSeconds)) * 100 }),
  async (setup, { burstEvents: count }) => {
    const { rate, cpu, latencies } = await publishInBurst(setup, { count, callers, webhooks: 1 });
    return { burstRate: rate, burstCpu: cpu, burstP50: percentile(latencies, 0.5) };
  },
  async (setup, { burstEvents: count }) => {
    const { rate, cpu } = await publishInBurst(setup, { count, callers, webhooks: 0 });
    return { eventRate: rate, eventCpu: cpu };
  },
  async (setup, size) => {
    const { p50, p99, cpuMs } = await scheduled(setup, 1, size);
    return { singleP50: p50, singleP99: p99, singleCpu: cpuMs };
  },
  async (setup, size) => {
    const { rate, p50, p99, cpuMs } = await scheduled(setup, 10, size);
    return { fanRate: rate, fanP50: p50, fanP99: p99, fanCpu: cpuMs };
  },
  async (measuring, { singleExecutions }) => {
    const { times } = await runExecutions(measuring, 1, singleExecutions);
    const share = (step: keyof (typeof times)[number], of: number) =>
      percentile(
        times.map((one) => one[step]),
        of,
      );
    return {
      answeredP95: share('answered', 0.95),
      endedP50: share('ended', 0.5),
      deliveredP50: share('delivered', 0.5),
    };
  },
  async (measuring, { executions }) => {
    let rate = 0;
    const used = await cpuUsedBy(measuring, async () => {
      rate = (await runExecutions(measuring, callers, executions)).rate;
    });
    return { executionRate: rate, executionCpu: used / executions };
  },
];

/**
 * The goals of deliveries: this checkout and the one beside it are measured in turns, each with a new data folder and with one
 * that has earlier events.
 */
export const goals: Part = {
  name: 'goals',
  numbers: {
    ...{ callers, burstEvents: figure(whole.burstEvents), seconds: whole.seconds, runs: whole.runs },
    earlierEvents: figure(whole.earlierEvents),
  },
  async measure(bench) {
    const size = bench.quick ? quick : whole;
    const receiver = await startReceiver(bench);
    const ends = await startEndReceiver(bench);
    const columns: Column<Measuring>[] = [];
    for (const checkout of [process.cwd(), ...(bench.beside ? [bench.beside] : [])])
      for (const earlierEvents of [0, size.earlierEvents]) {
        const service = await startUsed(bench, { checkout, receiver, earlierEvents });
        const restMemory = service.memory();
        const setup = { service, receiver, ends };
        await publishInBurst({ ...setup, idle: 0 }, { count: size.warmUpEvents, callers, webhooks: 1 });
        const idle = await idleCpuOf(service, size.idleSeconds);
        const state = earlierEvents > 0 ? `${figure(earlierEvents)} earlier events` : 'new';
        const name = `${service.name}, ${state}`;
        columns.push({ name, subject: { ...setup, idle }, seen: [{ restMemory }] });
      }
    const table = { figures, measurements: measurements.map((one) => (subject: Measuring) => one(subject, size)) };
    await measureInTurns(bench, table, columns, size.runs);
    for (const { subject, seen } of columns) seen.push({ loadedMemory: subject.service.memory() });
    return { goals: tableOfFigures(table, columns) };
  },
};

/** Starts a service on a data folder with a number of events that an earlier start of it has delivered. */
async function startUsed(
  bench: Bench,
  { checkout, receiver, earlierEvents }: { checkout: string; receiver: Receiver; earlierEvents: number },
): Promise<Service> {
  const dataFolder = createFolder(bench);
  if (earlierEvents > 0) {
    const service = await startService(bench, { checkout, dataFolder, environment: unlimited });
    bench.say(`${service.name}: publishing ${figure(earlierEvents)} earlier events`);
    await publishInBurst({ service, receiver, idle: 0 }, { count: earlierEvents, callers, webhooks: 1 });
    await service.stop();
  }
  return startService(bench, { checkout, dataFolder });
}

/** Publishes 50 events a second, and returns the deliveries a second, their latencies, and the CPU time of one. */
async function scheduled(setup: Setup, webhooks: number, { seconds }: Size) {
  const run = await publishOnSchedule(setup, { perSecond: 50, count: 50 * seconds, webhooks });
  const [p50, p99] = [0.5, 0.99].map((share) => percentile(run.latencies, share)) as [number, number];
  return { rate: run.rate, p50, p99, cpuMs: run.cpu / webhooks };
}
