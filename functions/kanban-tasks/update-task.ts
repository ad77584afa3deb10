import { updateTask as row } from '../../lib/contract/tasks.ts';
import { serve } from '../../lib/http/serve.ts';
import { updateTask } from '../../lib/tasks/tasks.ts';

export const handler = serve(row, async ({ params, body, caller, ifMatch }, context) =>
  updateTask(context, caller.organization, params.id, body, ifMatch),
);
