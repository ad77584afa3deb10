import { sweepExecutions } from '../../lib/executions/execution-messages.ts';
import { sweepPurges } from '../../lib/executions/purge-messages.ts';
import { scheduled } from '../../lib/queue/scheduled.ts';
import { writeHeartbeat } from '../../lib/table/deliveries/heartbeat.ts';
import { sweepDeliveries } from '../../lib/webhooks/deliveries/sweep.ts';

export const handler = scheduled({
  deliveries: (call, context) => sweepDeliveries(context, call),
  executions: (call, context) => sweepExecutions(context, call),
  purges: (call, context) => sweepPurges(context, call),
  heartbeat: async (_, context) => {
    await writeHeartbeat(context);
    return {};
  },
});
