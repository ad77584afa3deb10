import { openMetrics } from '../agents/metrics.ts';
import { openMetricsStore } from '../table/metrics.ts';
import { appOf } from './base.ts';

/** The app of the function that tells what agents have come to. */
export const metricsApp = appOf((base) => ({
  metrics: openMetrics({ store: openMetricsStore(base.table), context: base, clock: base.clock }),
}));
