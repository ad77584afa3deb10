import { setTimeout as pause } from 'node:timers/promises';
import { successOf } from '../api.ts';
import type { Answer } from '../service.ts';
import { preciseNow } from './arrivals.ts';
import type { Part } from './bench.ts';
import { type Ends, listenForEnds } from './ends.ts';
import { runExecutions } from './executions.ts';
import { figure, percentile, spread } from './figures.ts';
import type { Section } from './page.ts';
import { type Peer, startOutpost } from './peers/outpost.ts';
import { startReceiver } from './receiver.ts';
import { publishInBurst, publishOnSchedule, type Setup } from './scenario.ts';
import { type Service, startService } from './service.ts';
import { type Cpu, cpuBetween, idleCpuOf, type Subject } from './subject.ts';

/** A figure of the table: its name, its decimals, and its goal. */
type Figure = { name: string; decimals: number; atMost?: number; atLeast?: number };

const figures = {
  idle: { name: 'idle: % of a core', decimals: 1, atMost: 1.5 },
  restService: { name: 'memory at rest, service: MiB', decimals: 0 },
  restStore: { name: 'memory at rest, table engine: MiB', decimals: 0 },
  burstRate: { name: 'burst of events for 1 webhook: deliveries/s', decimals: 0, atLeast: 1_000 },
  burstCpu: { name: 'burst: CPU ms an event with its delivery', decimals: 2, atMost: 2.5 },
  burstService: { name: 'of it the service', decimals: 2 },
  burstStore: { name: 'of it the table engine', decimals: 2 },
  eventRate: { name: 'the same burst for no webhook: events/s', decimals: 0 },
  eventCpu: { name: 'the same: CPU ms an event', decimals: 2 },
  fanRate: { name: '50 events/s for 10 webhooks: deliveries/s', decimals: 0, atLeast: 495 },
  fanP50: { name: 'the same: p50 ms', decimals: 1 },
  fanP99: { name: 'the same: p99 ms', decimals: 1, atMost: 100 },
  fanCpu: { name: 'the same: CPU ms a delivery, a tenth of the event with it', decimals: 2 },
  calmP50: { name: '10 events/s for 10 webhooks: p50 ms', decimals: 1 },
  calmP99: { name: 'the same: p99 ms', decimals: 1 },
  calmCpu: { name: 'the same: CPU ms a delivery, a tenth of the event with it', decimals: 2 },
  singleP50: { name: '50 events/s for 1 webhook: p50 ms', decimals: 1, atMost: 6 },
  singleP99: { name: 'the same: p99 ms', decimals: 1, atMost: 15 },
  singleCpu: { name: 'the same: CPU ms an event with its delivery', decimals: 2 },
  readable: { name: 'history readable after the arrival: ms', decimals: 1 },
  executionRate: { name: 'executions of 50 callers: a second', decimals: 1 },
  executionCpu: { name: 'executions: CPU ms each', decimals: 2, atMost: 10 },
  listCpu: { name: 'list 20 of 100 tasks: CPU ms', decimals: 2 },
  getCpu: { name: 'get a task: CPU ms', decimals: 2 },
  createCpu: { name: 'create a task: CPU ms', decimals: 2 },
  loadedService: { name: 'memory after the loads, service: MiB', decimals: 0 },
  loadedStore: { name: 'memory after the loads, table engine: MiB', decimals: 0 },
} as const satisfies Record<string, Figure>;

type FigureName = keyof typeof figures;

/** Some of the figures, as one run found them. */
type Measured = Partial<Record<FigureName, number>>;

/** The amount of work of each measurement. */
type Size = {
  runs: number;
  idleSeconds: number;
  warmUpEvents: number;
  burstEvents: number;
  seconds: number;
  executions: number;
  requests: number;
  readings: number;
};
const whole: Size = {
  runs: 5,
  idleSeconds: 5,
  warmUpEvents: 300,
  burstEvents: 2_000,
  seconds: 8,
  executions: 200,
  requests: 400,
  readings: 15,
};
const quick: Size = {
  runs: 1,
  idleSeconds: 0.5,
  warmUpEvents: 20,
  burstEvents: 100,
  seconds: 1,
  executions: 50,
  requests: 40,
  readings: 2,
};

/** The number of concurrent callers in a burst, of executions, and of single requests. */
const callers = { burst: 50, executions: 50, requests: 4 };

/** The time after which no further reading of a history begins: one can take seconds. */
const readingsMs = 5_000;

/** The measurements of every subject. */
const ofSubjects: readonly ((setup: Setup, size: Size) => Promise<Measured>)[] = [
  async ({ subject }, { idleSeconds }) => ({ idle: sumOf(await idleCpuOf(subject, idleSeconds)) * 100 }),
  async (setup, { burstEvents: events }) => {
    const { rate, cpu } = await publishInBurst(setup, { events, callers: callers.burst, webhooks: 1 });
    return { burstRate: rate, burstCpu: sumOf(cpu), burstService: cpu.service, burstStore: cpu.store };
  },
  async (setup, { burstEvents: events }) => {
    const { rate, cpu } = await publishInBurst(setup, { events, callers: callers.burst, webhooks: 0 });
    return { eventRate: rate, eventCpu: sumOf(cpu) };
  },
  async (setup, size) => {
    const { p50, p99, cpuMs } = await scheduled(setup, { perSecond: 50, webhooks: 1 }, size);
    return { singleP50: p50, singleP99: p99, singleCpu: cpuMs };
  },
  async (setup, size) => {
    const { p50, p99, cpuMs } = await scheduled(setup, { perSecond: 10, webhooks: 10 }, size);
    return { calmP50: p50, calmP99: p99, calmCpu: cpuMs };
  },
  async (setup, size) => {
    const { rate, p50, p99, cpuMs } = await scheduled(setup, { perSecond: 50, webhooks: 10 }, size);
    return { fanRate: rate, fanP50: p50, fanP99: p99, fanCpu: cpuMs };
  },
  async (setup, { readings }) => ({ readable: await readableAfter(setup, readings) }),
];

/** A service, the receiver of the ends of its executions, and its CPU use without any load. */
type Executing = { service: Service; ends: Ends; idle: Cpu };

/** The measurements of this service and of another checkout only. */
const ofServices: readonly ((executing: Executing, size: Size) => Promise<Measured>)[] = [
  async (executing, { executions }) => {
    const run = () => runExecutions(executing, callers.executions, executions);
    const { result, cpuMs } = await cpuOfEach(executing, executions, run);
    return { executionRate: result.rate, executionCpu: cpuMs };
  },
  (executing, { requests }) => measureRequests(executing, requests),
];

/** A column of the table: its subject, what is measured of it, and the results. */
type Column = { subject: Subject; measures: (() => Promise<Measured>)[]; seen: Measured[] };

/** The goals of deliveries: this checkout, the one beside it and the peer are measured in turns. */
export const goals: Part = {
  name: 'goals',
  async measure(bench) {
    const size = bench.quick ? quick : whole;
    const receiver = await startReceiver(bench);
    const ends = await listenForEnds(bench);
    const services = [await startService(bench)];
    if (bench.beside) services.push(await startService(bench, { checkout: bench.beside }));
    const peer = await startOutpost(bench);
    const columns: Column[] = [];
    const add = async (subject: Subject, measuresAlone: (setup: Setup) => Column['measures']) => {
      const { service: restService, store: restStore } = subject.memory();
      const setup = { subject, receiver, idle: await idleCpuOf(subject, size.idleSeconds) };
      await publishInBurst(setup, { events: size.warmUpEvents, callers: callers.burst, webhooks: 1 });
      const measures = [...ofSubjects.map((measure) => () => measure(setup, size)), ...measuresAlone(setup)];
      columns.push({ subject, measures, seen: [{ restService, restStore }] });
    };
    for (const service of services)
      await add(service, ({ idle }) => ofServices.map((measure) => () => measure({ service, ends, idle }, size)));
    if (peer) await add(peer, () => []);
    const count = ofSubjects.length + ofServices.length;
    for (let run = 1; run <= size.runs; run++)
      for (let nth = 0; nth < count; nth++)
        // Each of them goes first in turn.
        for (const { subject, measures, seen } of run % 2 === 1 ? columns : columns.toReversed()) {
          const measured = await measures[nth]?.();
          if (!measured) continue;
          seen.push(measured);
          bench.say(`${subject.name}, run ${run} of ${size.runs}, ${nth + 1} of ${count}: ${wordsOf(measured)}`);
        }
    for (const { subject, seen } of columns) {
      const { service: loadedService, store: loadedStore } = subject.memory();
      seen.push({ loadedService, loadedStore });
    }
    return [sectionOf(columns, size, peer)];
  },
};

/** Publishes on a schedule, and returns the deliveries a second, their latencies, and the CPU time of one. */
async function scheduled(setup: Setup, load: { perSecond: number; webhooks: number }, { seconds }: Size) {
  const run = await publishOnSchedule(setup, load, seconds);
  const [p50, p99] = [0.5, 0.99].map((share) => percentile(run.latencies, share)) as [number, number];
  return { rate: run.rate, p50, p99, cpuMs: sumOf(run.cpu) / load.webhooks };
}

function wordsOf(measured: Measured): string {
  const words = Object.entries(measured) as [FigureName, number][];
  return words.map(([name, value]) => `${name} ${figure(value, figures[name].decimals)}`).join(', ');
}

const sumOf = ({ service, store }: Cpu): number => service + store;

/** Returns the CPU ms of the service and its engine for each of `count` actions, less their CPU time without load. */
async function cpuOfEach<Result>(
  { service, idle }: Omit<Executing, 'ends'>,
  count: number,
  act: () => Promise<Result>,
): Promise<{ result: Result; cpuMs: number }> {
  const before = { cpu: service.cpu(), at: performance.now() };
  const result = await act();
  const used = sumOf(cpuBetween(before.cpu, service.cpu()));
  return { result, cpuMs: (used - sumOf(idle) * (performance.now() - before.at)) / count };
}

/** Returns the median of the ms from the arrival of a delivery to the response of the first read of the history that has it. */
async function readableAfter({ subject, receiver }: Setup, readings: number): Promise<number> {
  const { publish, attempts, end } = await subject.subscribe([`${receiver.url}/hooks/1`]);
  const stopAt = performance.now() + readingsMs;
  const readableAt: number[] = [];
  while (readableAt.length < readings && performance.now() < stopAt) {
    await publish(`Event ${readableAt.length}`);
    while ((await attempts()) <= readableAt.length) await pause(1);
    readableAt.push(preciseNow());
  }
  await end();
  const arrivals = await receiver.take();
  const waits = readableAt.map((at, nth) => at - (arrivals[nth]?.at ?? Number.NaN));
  return percentile(waits, 0.5);
}

/** Returns the CPU time of single requests with 100 tasks, including that of their changes in the stream. */
async function measureRequests(executing: Executing, count: number): Promise<Measured> {
  const api = await executing.service.newOrganization();
  const ids: string[] = [];
  for (let nth = 0; nth < 100; nth++) ids.push(successOf(await api.createTask({ body: { title: `Task ${nth}` } })).id);
  await pause(500);
  const cpuOf = async (send: (nth: number) => Promise<Answer>) => {
    let nth = 0;
    const caller = async () => {
      while (nth < count) successOf(await send(nth++));
    };
    const { cpuMs } = await cpuOfEach(executing, count, async () => {
      await Promise.all(Array.from({ length: callers.requests }, caller));
      // The last change is read from the stream meanwhile.
      await pause(500);
    });
    return cpuMs;
  };
  return {
    listCpu: await cpuOf(() => api.listTasks({ query: 'limit=20' })),
    getCpu: await cpuOf((nth) => api.getTask({ params: { id: ids[nth % ids.length] as string } })),
    createCpu: await cpuOf((nth) => api.createTask({ body: { title: `Task ${nth}` } })),
  };
}

function sectionOf(columns: readonly Column[], { runs, seconds, burstEvents }: Size, peer: Peer | undefined): Section {
  return {
    title: 'Goals of deliveries',
    text: [
      `The local service (\`node infra/local/main.ts\`), whose webhooks have secrets and one local receiver that answers 204 at once.
Events are new tasks, created over the API. In a burst, ${callers.burst} callers create ${figure(burstEvents)} tasks without a pause. Otherwise tasks are created
on a schedule for ${seconds} s that does not wait for responses. Times are from the request for the event to the headers of the delivery
at the receiver; rates are from the first request to the last arrival. The command fails unless every event arrived exactly
once at every webhook.`,
      `CPU is user and system time of the processes of the service and its table engine, with the request for the event, minus their
idle time. The load generator and the receiver are not counted, but use the same cores. Executions have a model that takes no
time, and their ends are delivered. After an event, the history of the webhook is read without a pause until it has the
attempt; its figure is from the arrival to that response. ${figure(runs)} runs: the figures are their median, in brackets the least and
the greatest.`,
      ...(peer ? [peer.about] : []),
      `Repeat: \`npm run bench -- goals\`; beside another checkout, in turns: \`npm run bench -- goals --beside FOLDER\`; beside
Outpost: \`OUTPOST=FOLDER\` with the folder of its programs (\`test/bench/peers/outpost.ts\` says how to install them).`,
    ],
    table: {
      head: ['Figure', 'goal', ...columns.map(({ subject }) => subject.name)],
      rows: (Object.entries(figures) as [FigureName, Figure][]).map(([name, shown]) => [
        shown.name,
        goalOf(shown),
        ...columns.map(({ seen }) => {
          const values = seen.flatMap((run) => run[name] ?? []);
          return values.length > 0 ? spread(values, shown.decimals) : '';
        }),
      ]),
    },
  };
}

function goalOf({ decimals, atMost, atLeast }: Figure): string {
  if (atMost !== undefined) return `≤ ${figure(atMost, decimals)}`;
  return atLeast === undefined ? '' : `≥ ${figure(atLeast, decimals)}`;
}
