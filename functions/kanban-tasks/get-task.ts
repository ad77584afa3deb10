import { tasksApp } from '../../lib/apps/tasks.ts';
import { getTask } from '../../lib/contract/tasks.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  getTask,
  async ({ params, caller }, { tasks }) => tasks.get(caller.organization, params.id),
  tasksApp,
);
