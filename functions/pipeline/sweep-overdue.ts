import { scheduled } from '../../lib/queue/scheduled.ts';

export const handler = scheduled(async (until, { deliveries, runs, purges }) => ({
  deliveries: await deliveries.sweep(until),
  executions: await runs.sweep(until),
  purges: await purges.sweep(until),
}));
