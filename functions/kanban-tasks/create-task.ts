import { tasksApp } from '../../lib/apps/tasks.ts';
import { createTask } from '../../lib/contract/tasks.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  createTask,
  async ({ body, caller, once }, { tasks }) => tasks.create(caller.organization, body, once),
  tasksApp,
);
