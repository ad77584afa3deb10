import { sweepAgents } from '../../lib/executions/auto-run.ts';
import { sweepExecutions } from '../../lib/executions/execution-messages.ts';
import { scheduled } from '../../lib/queue/scheduled.ts';
import { writeHeartbeat } from '../../lib/table/deliveries/heartbeat.ts';
import { sumOf } from '../../lib/table/lists/due.ts';
import { sweepTasks } from '../../lib/tasks/due-tasks.ts';
import { sweepDeliveries } from '../../lib/webhooks/deliveries/sweep.ts';
import { sweepRecoveries } from '../../lib/webhooks/recoveries/sweep.ts';

export const handler = scheduled({
  deliveries: (call, context) => sweepDeliveries(context, call),
  recoveries: (call, context) => sweepRecoveries(context, call),
  executions: (call, context) => sweepExecutions(context, call),
  tasks: async (call, context) => sumOf(await sweepTasks(context, call), await sweepAgents(context, call)),
  heartbeat: async (_, context) => {
    await writeHeartbeat(context);
    return {};
  },
});
