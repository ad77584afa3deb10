import { pipelineApp } from '../../lib/apps/pipeline.ts';
import { scheduled } from '../../lib/queue/scheduled.ts';

export const handler = scheduled(async (until, { deliveries, wakeUps }) => {
  // Each to its end, so that what cannot be swept keeps nothing else waiting.
  const swept = {
    deliveries: deliveries.sweep(until),
    executions: wakeUps.runs.sweep(until),
    purges: wakeUps.purges.sweep(until),
  };
  await Promise.allSettled(Object.values(swept));
  return { deliveries: await swept.deliveries, executions: await swept.executions, purges: await swept.purges };
}, pipelineApp);
