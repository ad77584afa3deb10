import { scheduled } from '../../lib/queue/scheduled.ts';

export const handler = scheduled(async (until, { deliveries, purges }) => ({
  deliveries: await deliveries.sweep(until),
  purges: await purges.sweep(until),
}));
