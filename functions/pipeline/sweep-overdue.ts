import { pipelineApp } from '../../lib/apps/pipeline.ts';
import { scheduled } from '../../lib/queue/scheduled.ts';
import { writeHeartbeat } from '../../lib/table/heartbeat.ts';

export const handler = scheduled(
  {
    deliveries: (call, { sweepDeliveries }) => sweepDeliveries(call),
    executions: (call, { wakeUps }) => wakeUps.runs.sweep(call),
    purges: (call, { wakeUps }) => wakeUps.purges.sweep(call),
    heartbeat: async (_, { table, clock }) => {
      await writeHeartbeat(table, clock());
      return {};
    },
  },
  pipelineApp,
);
