import { setTimeout as pause } from 'node:timers/promises';
import type { Bench, Part } from './bench.ts';
import { figure, spread } from './figures.ts';
import { lateMs } from './open-loop.ts';
import type { Section } from './page.ts';
import { percentile } from './percentile.ts';
import { cpuOfTree } from './process-cpu.ts';
import { startReceiver } from './receiver.ts';
import { type Pace, play, type Run, type Scenario, type Stage } from './scenario.ts';
import { startService } from './service.ts';

const answering: readonly Scenario[] = [
  { perSecond: 10, webhooks: 1, hanging: 0 },
  { perSecond: 10, webhooks: 5, hanging: 0 },
  { perSecond: 50, webhooks: 1, hanging: 0 },
];

/** What a delivery is to take of a processor at most, in ms. */
const cpuGoalMs = 12;

/** The events of the last of them, with nobody to hear of them: what they cost before anything is delivered. */
const unheard: Scenario = { ...(answering.at(-1) as Scenario), webhooks: 0 };

/** The same load without and with a webhook that hangs. */
const [without, withOne] = [0, 1].map((hanging) => ({ perSecond: 2, webhooks: 50, hanging })) as [Scenario, Scenario];

/** How long an event takes to its receivers on the started service, what it costs, and what one that hangs does to it. */
export const latency: Part = {
  name: 'latency',
  async measure(bench) {
    const pace: Pace = bench.quick
      ? { warmUpSeconds: 1, runs: 1, seconds: 1 }
      : { warmUpSeconds: 3, runs: 5, seconds: 3 };
    // As many attempts hang as ever will once the first of them has timed out, after ten seconds.
    const pairPace: Pace = bench.quick ? pace : { ...pace, warmUpSeconds: 11 };
    const stage = await openStage(bench, pace);
    const told = async (scenario: Scenario, pace: Pace): Promise<Run[]> => {
      const runs = await play(stage, scenario, pace);
      bench.say(`${nameOf(scenario)}: ${scenario.webhooks > 0 ? `p99 ${figure(p99(runs))} ms` : 'done'}`);
      return runs;
    };
    const rows: [Scenario, Run[]][] = [];
    for (const scenario of answering) rows.push([scenario, await told(scenario, pace)]);
    const alone = await told(unheard, pace);
    const pairs: [Run[], Run[]][] = [];
    for (let pair = 0; pair < (bench.quick ? 1 : 2); pair++)
      pairs.push([await told(without, pairPace), await told(withOne, pairPace)]);
    const [, heard] = rows.at(-1) as [Scenario, Run[]];
    for (const [plain, hung] of pairs) rows.push([without, plain], [withOne, hung]);
    return [latencySection(stage, rows), partsSection(heard, alone), hangingSection(pairs)];
  },
};

/** Starts the service and a receiver, warms both up, and measures what the service takes without a load. */
async function openStage(bench: Bench, pace: Pace): Promise<Stage> {
  const receiver = await startReceiver(bench);
  const service = await startService(bench);
  await play(
    { service, receiver, idle: 0 },
    { perSecond: 10, webhooks: 1, hanging: 0 },
    { ...pace, runs: 1, seconds: 1 },
  );
  const before = { cpu: cpuOfTree(service.pid), at: performance.now() };
  await pause(pace.runs * pace.seconds * 1000);
  const idle = (cpuOfTree(service.pid) - before.cpu) / (performance.now() - before.at);
  bench.say(`the idle service takes ${figure(idle * 100, 1)} % of a core`);
  return { service, receiver, idle };
}

function latencySection(stage: Stage, rows: readonly (readonly [Scenario, Run[]])[]): Section {
  return {
    title: 'From an event to its receivers',
    text: [
      `A task is created over the API of the started service (\`node infra/local/main.ts\`), on a schedule that does not wait for
answers; its webhooks, each with a secret, are paths of one local receiver. The time is from the event’s own \`occurredAt\`
to the moment when the receiver had the headers of the delivery: the stream, the queue, the claim and the connection are
in it. After a warm-up each load is run ${rows[0]?.[1].length} times: the figures are the median of the runs, in brackets the least and the
greatest; a run’s percentiles are nearest-rank over all its deliveries. The command fails unless every event arrived
exactly once at every webhook that answers.`,
      `CPU is user and system time of the service and its table engine, a delivery, less what they take idle
(${figure(stage.idle * 100, 1)} % of a core, measured before). The API call that made the event is in it: once for each
event, however many webhooks hear it. Late: events that were sent over ${lateMs} ms after their time, and the latest of them;
many would mean that the machine had no time left for what sends. Machine busy: the share of all cores’ time, with
whatever ran. Where it is near 100 %, deliveries wait for the machine, and the times say how much work it had.`,
      'Repeat: `npm run bench -- latency`.',
    ],
    table: {
      head: [
        'events/s',
        'webhooks',
        'of them hang',
        'arrived',
        'p50 ms',
        'p99 ms',
        'max ms',
        'CPU ms a delivery',
        'late',
        'machine busy',
      ],
      rows: rows.map(([scenario, runs]) => rowOf(scenario, runs)),
    },
  };
}

function rowOf({ perSecond, webhooks, hanging }: Scenario, runs: readonly Run[]): string[] {
  const latencies = latenciesIn(runs);
  const share = (of: number) => spread(runs.map((run) => percentile(run.latencies, of)));
  const cpu = runs.map(({ cpuMs }) => cpuMs / webhooks);
  const sent = (what: 'late' | 'count') => figure(runs.reduce((sum, run) => sum + run.sent[what], 0));
  const latest = Math.max(...runs.map((run) => run.sent.latestMs));
  return [
    ...[perSecond, webhooks, hanging, latencies.length].map((count) => figure(count)),
    ...[share(0.5), share(0.99), figure(Math.max(...latencies)), spread(cpu, 1)],
    `${sent('late')} of ${sent('count')} (${figure(latest)} ms)`,
    `${spread(runs.map(({ busy }) => busy * 100))} %`,
  ];
}

/** The figure of all runs, and whether it is within the goal. */
const held = (cpuMs: readonly number[]) => [spread(cpuMs, 1), percentile(cpuMs, 0.5) <= cpuGoalMs ? 'met' : 'not met'];

function partsSection(heard: readonly Run[], alone: readonly Run[]): Section {
  const { perSecond } = unheard;
  const [event, both] = [alone, heard].map((runs) => runs.map(({ cpuMs }) => cpuMs)) as [number[], number[]];
  const delivery = both.map((cpuMs, nth) => cpuMs - (event[nth] as number));
  return {
    title: 'Where the CPU of a delivery goes',
    text: [
      `The same ${perSecond} events a second with one webhook and with none, one run after the other: what the request for the task
takes, with the look at its change that finds nobody to tell; and so what one delivery takes, from the look for its
webhook to the history of its attempt. The goal is ${cpuGoalMs} ms a delivery; where it counts the event too, look at the
second row. The attempt by itself is measured under
[Deliveries a second](#deliveries-a-second); [What is left](#what-is-left) has the calls that it consists of.`,
    ],
    table: {
      head: ['', 'CPU ms', `at most ${cpuGoalMs} ms`],
      rows: [
        ['an event that nobody hears of', spread(event, 1), ''],
        ['an event with its delivery', ...held(both)],
        ['so its delivery', ...held(delivery)],
      ],
    },
  };
}

function hangingSection(pairs: readonly (readonly [Run[], Run[]])[]): Section {
  const all = [0, 1].map((side) =>
    percentile(
      pairs.flatMap((pair) => latenciesIn(pair[side] ?? [])),
      0.99,
    ),
  );
  const rows = [
    ...pairs.map((pair, at) => [`pair ${at + 1}`, ...pair.map(p99)] as const),
    ['all runs', ...all] as const,
  ];
  return {
    title: 'What a receiver that hangs does to the others',
    text: [
      `${without.perSecond} events a second, each for ${without.webhooks} webhooks: without one that hangs, and with one that takes every connection and
never answers, in turns, so that a machine that slows down slows both. The p99 with it is that of the others. The goal:
it worsens by less than 10 %. These are the last rows of the table above, and repeated with them. Both of a pair are the
same work but for the one that hangs: where they found the machine unequally busy, it had other work, and the pair says
little.`,
    ],
    table: {
      head: ['', 'p99 ms without', 'p99 ms with', 'worse by'],
      rows: rows.map(([name, plain = 0, hung = 0]) => [
        name,
        figure(plain),
        figure(hung),
        `${figure((hung / plain - 1) * 100)} %`,
      ]),
    },
  };
}

function nameOf({ perSecond, webhooks, hanging }: Scenario): string {
  return `${perSecond} events/s, ${webhooks} webhooks${hanging > 0 ? `, ${hanging} hangs` : ''}`;
}

function p99(runs: readonly Run[]): number {
  return percentile(latenciesIn(runs), 0.99);
}

function latenciesIn(runs: readonly Run[]): number[] {
  return runs.flatMap(({ latencies }) => latencies);
}
