import { tasksApp } from '../../lib/apps/tasks.ts';
import { deleteTask } from '../../lib/contract/tasks.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  deleteTask,
  async ({ params, caller, ifMatch }, { tasks }) => tasks.delete(caller.organization, params.id, ifMatch),
  tasksApp,
);
