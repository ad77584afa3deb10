import { createTask as row } from '../../lib/contract/tasks/tasks.ts';
import { serve } from '../../lib/http/serve.ts';
import { createTask } from '../../lib/tasks/tasks.ts';

export const handler = serve(row, async ({ body, caller, recordResponse }, context) =>
  createTask(context, caller.organization, body, recordResponse),
);
