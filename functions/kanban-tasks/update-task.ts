import { tasksApp } from '../../lib/apps/tasks.ts';
import { updateTask } from '../../lib/contract/tasks.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  updateTask,
  async ({ params, body, caller, ifMatch }, { tasks }) => tasks.update(caller.organization, params.id, body, ifMatch),
  tasksApp,
);
