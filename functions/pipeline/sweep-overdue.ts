import { sweepAgents } from '../../lib/executions/auto-run.ts';
import { sweepExecutions } from '../../lib/executions/run/execution-messages.ts';
import { joinSweeps } from '../../lib/table/lists/due.ts';
import { writeHeartbeat } from '../../lib/table/organizations/heartbeat.ts';
import { sweepTasks } from '../../lib/tasks/due-tasks.ts';
import { sweepDeliveries } from '../../lib/webhooks/deliveries/sweep.ts';
import { sweepRecoveries } from '../../lib/webhooks/recoveries/sweep.ts';
import { scheduled } from '../../lib/workers/scheduled.ts';

export const handler = scheduled({
  deliveries: (call, context) => sweepDeliveries(context, call),
  recoveries: (call, context) => sweepRecoveries(context, call),
  executions: (call, context) => sweepExecutions(context, call),
  tasks: async (call, context) => joinSweeps(await sweepTasks(context, call), await sweepAgents(context, call)),
  heartbeat: async (_, context) => {
    await writeHeartbeat(context);
    return {};
  },
});
