import { scheduled } from '../../lib/queue/scheduled.ts';

export const handler = scheduled(async (until, { deliveries }) => ({ woken: await deliveries.sweep(until) }));
