import type { Part } from './bench.ts';
import { figure } from './figures.ts';
import type { Section } from './page.ts';
import { percentile } from './percentile.ts';
import { startReceiver } from './receiver.ts';
import { type Pace, play, type Run, type Scenario, type Stage } from './scenario.ts';
import { startService } from './service.ts';

/** The same load without and with a webhook that hangs. */
const [without, withOne] = [0, 1].map((hanging) => ({ perSecond: 2, webhooks: 50, hanging })) as [Scenario, Scenario];

/** What a receiver that hangs does to the deliveries of the others. */
export const hanging: Part = {
  name: 'hanging',
  async measure(bench) {
    // As many attempts hang as ever will once the first of them has timed out, after ten seconds.
    const pace: Pace = bench.quick
      ? { warmUpSeconds: 1, runs: 1, seconds: 1 }
      : { warmUpSeconds: 11, runs: 5, seconds: 3 };
    const receiver = await startReceiver(bench);
    const stage: Stage = { subject: await startService(bench), receiver, idle: { service: 0, store: 0 } };
    const pairs: [Run[], Run[]][] = [];
    for (let pair = 1; pair <= (bench.quick ? 1 : 2); pair++) {
      const runs: [Run[], Run[]] = [await play(stage, without, pace), await play(stage, withOne, pace)];
      bench.say(`pair ${pair}: p99 ${runs.map((side) => figure(p99(side))).join(' and ')} ms`);
      pairs.push(runs);
    }
    return [hangingSection(pairs)];
  },
};

function hangingSection(pairs: readonly (readonly [Run[], Run[]])[]): Section {
  const [plain, hung] = [0, 1].map((side) => pairs.flatMap((pair) => pair[side] ?? [])) as [Run[], Run[]];
  const busyOf = (runs: readonly Run[]) => runs.reduce((sum, { busy }) => sum + busy, 0) / runs.length;
  const row = (name: string, plain: Run[], hung: Run[]) =>
    [name, p99(plain), p99(hung), busyOf(plain), busyOf(hung)] as const;
  const rows = [...pairs.map((pair, at) => row(`pair ${at + 1}`, ...pair)), row('all runs', plain, hung)];
  return {
    title: 'What a receiver that hangs does to the others',
    text: [
      `${without.perSecond} events a second, each for ${without.webhooks} webhooks: without one that hangs, and with one that takes every connection and
never answers, in turns, so that a machine that slows down slows both. The p99 with it is that of the others. The goal:
it worsens by less than 10 %. Both of a pair are the same work but for the one that hangs: where they found the machine
unequally busy, it had other work, and the pair says little.`,
      'Repeat: `npm run bench -- hanging`.',
    ],
    table: {
      head: ['', 'p99 ms without', 'p99 ms with', 'worse by', 'machine busy without', 'with'],
      rows: rows.map(([name, plain, hung, ...busy]) => [
        name,
        figure(plain),
        figure(hung),
        `${figure((hung / plain - 1) * 100)} %`,
        ...busy.map((share) => `${figure(share * 100)} %`),
      ]),
    },
  };
}

function p99(runs: readonly Run[]): number {
  return percentile(
    runs.flatMap(({ latencies }) => latencies),
    0.99,
  );
}
