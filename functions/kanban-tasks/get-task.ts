import { getTask as row } from '../../lib/contract/tasks.ts';
import { serve } from '../../lib/http/serve.ts';
import { getTask } from '../../lib/tasks/tasks.ts';

export const handler = serve(row, async ({ params, caller }, context) =>
  getTask(context, caller.organization, params.id),
);
