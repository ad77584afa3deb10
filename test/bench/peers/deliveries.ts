import type { Bench } from '../bench.ts';
import { percentile } from '../page/figures.ts';
import { startReceiver } from '../receiver/receiver.ts';
import { publishInBurst, publishOnSchedule } from '../scenario.ts';
import { type Publisher, startService } from '../service.ts';
import { type Comparison, callers, type Prepared, type Size } from './comparison.ts';
import { outpost } from './outpost.ts';

/** Events and their deliveries, beside Outpost. */
export async function deliveries(bench: Bench, size: Size): Promise<Comparison<Publisher, undefined>> {
  const receiver = await startReceiver(bench);
  const schedule = (setup: Prepared<Publisher, undefined>, webhooks: number) =>
    publishOnSchedule({ ...setup, receiver }, { perSecond: 50, count: 50 * size.seconds, webhooks });
  return {
    peer: outpost,
    startOwn: startService,
    async prepare(service) {
      await publishInBurst({ service, receiver, idle: 0 }, { count: size.warmUp, callers, webhooks: 1 });
      return undefined;
    },
    figures: {
      burstRate: { name: 'burst of events for 1 webhook: deliveries/s', decimals: 0 },
      burstCpu: { name: 'the same: CPU ms an event with its delivery', decimals: 2 },
      burstP50: { name: 'the same: p50 ms', decimals: 0 },
      singleP50: { name: '50 events/s for 1 webhook: p50 ms', decimals: 1 },
      singleP99: { name: 'the same: p99 ms', decimals: 1 },
      singleCpu: { name: 'the same: CPU ms an event with its delivery', decimals: 2 },
      fanCpu: { name: '50 events/s for 10 webhooks: CPU ms a delivery', decimals: 2 },
    },
    measurements: [
      async (setup) => {
        const load = { count: size.burstEvents, callers, webhooks: 1 };
        const { rate, cpu, latencies } = await publishInBurst({ ...setup, receiver }, load);
        return { burstRate: rate, burstCpu: cpu, burstP50: percentile(latencies, 0.5) };
      },
      async (setup) => {
        const { cpu, latencies } = await schedule(setup, 1);
        return { singleP50: percentile(latencies, 0.5), singleP99: percentile(latencies, 0.99), singleCpu: cpu };
      },
      async (setup) => ({ fanCpu: (await schedule(setup, 10)).cpu / 10 }),
    ],
  };
}
