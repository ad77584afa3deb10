import { pipelineApp } from '../../lib/apps/pipeline.ts';
import { sweepExecutions } from '../../lib/executions/execution-messages.ts';
import { sweepPurges } from '../../lib/executions/purge-messages.ts';
import { scheduled } from '../../lib/queue/scheduled.ts';
import { writeHeartbeat } from '../../lib/table/heartbeat.ts';

export const handler = scheduled(
  {
    deliveries: (call, { sweepDeliveries }) => sweepDeliveries(call),
    executions: (call, context) => sweepExecutions(context, call),
    purges: (call, context) => sweepPurges(context, call),
    heartbeat: async (_, { table, clock }) => {
      await writeHeartbeat(table, clock());
      return {};
    },
  },
  pipelineApp,
);
