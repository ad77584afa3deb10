import * as claimRows from '../../lib/contract/task-claims.ts';
import * as rows from '../../lib/contract/tasks.ts';
import { byRoute } from '../../lib/http/by-route.ts';
import { serve } from '../../lib/http/serve.ts';
import { claimTask, releaseTask, renewClaim, takeBackTask } from '../../lib/tasks/claims.ts';
import { claimNextTask } from '../../lib/tasks/ready-tasks.ts';
import { updateTask } from '../../lib/tasks/tasks.ts';

const update = serve(rows.updateTask, async ({ params, body, caller, ifMatch }, context) =>
  updateTask(context, caller.organization, params.id, body, ifMatch),
);

const claim = serve(claimRows.claimTask, async ({ params, body, caller, recordResponse }, context) =>
  claimTask(context, caller.organization, params.id, body, recordResponse),
);

const claimNext = serve(claimRows.claimNextTask, async ({ body, caller, recordResponse }, context) =>
  claimNextTask(context, caller.organization, body, recordResponse),
);

const renew = serve(claimRows.renewClaim, async ({ params, body, caller, recordResponse }, context) =>
  renewClaim(context, caller.organization, params.id, body, recordResponse),
);

const release = serve(claimRows.releaseTask, async ({ params, body, caller, recordResponse }, context) =>
  releaseTask(context, caller.organization, params.id, body, recordResponse),
);

const takeBack = serve(claimRows.takeBackTask, async ({ params, caller }, context) =>
  takeBackTask(context, caller.organization, params.id),
);

export const handler = byRoute(
  [rows.updateTask, update],
  [claimRows.claimTask, claim],
  [claimRows.claimNextTask, claimNext],
  [claimRows.renewClaim, renew],
  [claimRows.releaseTask, release],
  [claimRows.takeBackTask, takeBack],
);
