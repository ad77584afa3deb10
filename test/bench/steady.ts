import type { Part } from './bench.ts';
import { figure, percentile } from './page/figures.ts';
import { startReceiver } from './receiver/receiver.ts';
import { publishInBurst, publishOnSchedule } from './scenario.ts';
import { idleCpuOf, startService, unlimited } from './service.ts';

const whole = { stretches: 6, secondsEach: 300, idleSeconds: 5, warmUpEvents: 300 };
const quick: typeof whole = { stretches: 2, secondsEach: 1, idleSeconds: 0.5, warmUpEvents: 20 };

const perSecond = 50;

/**
 * The same load for half an hour: 50 events a second, each delivered to one webhook. A row for each five minutes shows whether
 * latency, CPU time or memory grow with what the service has done before. It is not on the page.
 */
export const steady: Part = {
  name: 'steady',
  numbers: {},
  async measure(bench) {
    const { stretches, secondsEach, idleSeconds, warmUpEvents } = bench.quick ? quick : whole;
    const receiver = await startReceiver(bench);
    const service = await startService(bench, { environment: unlimited });
    await publishInBurst({ service, receiver, idle: 0 }, { count: warmUpEvents, callers: 50, webhooks: 1 });
    const setup = { service, receiver, idle: await idleCpuOf(service, idleSeconds) };
    const rows: string[][] = [];
    for (let nth = 1; nth <= stretches; nth++) {
      const { latencies, cpu } = await publishOnSchedule(setup, {
        perSecond,
        count: perSecond * secondsEach,
        webhooks: 1,
      });
      const times = [0.5, 0.99, 1].map((share) => figure(percentile(latencies, share), 1));
      rows.push([figure(nth * secondsEach), ...times, figure(cpu, 2), figure(service.memory())]);
      bench.say(`${rows.at(-1)?.join(', ')}`);
    }
    return {
      steady: { head: ['until second', 'p50 ms', 'p99 ms', 'longest ms', 'CPU ms an event', 'memory MiB'], rows },
    };
  },
};
