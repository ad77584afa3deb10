import { deleteTask as row } from '../../lib/contract/tasks/tasks.ts';
import { serve } from '../../lib/http/serve.ts';
import { deleteTask } from '../../lib/tasks/tasks.ts';

export const handler = serve(row, async ({ params, caller, ifMatch }, context) =>
  deleteTask(context, caller.organization, params.id, ifMatch),
);
