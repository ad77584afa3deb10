import { sweepAgents } from '../../lib/executions/auto-run.ts';
import { sweepExecutions } from '../../lib/executions/execution-messages.ts';
import { scheduled } from '../../lib/queue/scheduled.ts';
import { writeHeartbeat } from '../../lib/table/deliveries/heartbeat.ts';
import { sweepTasks } from '../../lib/tasks/due-tasks.ts';
import { sweepDeliveries } from '../../lib/webhooks/deliveries/sweep.ts';
import { sweepRecoveries } from '../../lib/webhooks/recoveries/sweep.ts';

export const handler = scheduled({
  deliveries: (call, context) => sweepDeliveries(context, call),
  recoveries: (call, context) => sweepRecoveries(context, call),
  executions: (call, context) => sweepExecutions(context, call),
  tasks: async (call, context) => {
    const swept = [await sweepTasks(context, call), await sweepAgents(context, call)];
    return {
      woken: swept.reduce((sum, { woken }) => sum + woken, 0),
      unfinished: swept.some(({ unfinished }) => unfinished),
    };
  },
  heartbeat: async (_, context) => {
    await writeHeartbeat(context);
    return {};
  },
});
