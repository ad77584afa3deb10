import * as commentRows from '../../lib/contract/tasks/comments.ts';
import * as claimRows from '../../lib/contract/tasks/task-claims.ts';
import { reviewTask as reviewRow } from '../../lib/contract/tasks/task-reviews.ts';
import * as rows from '../../lib/contract/tasks/tasks.ts';
import { byRoute } from '../../lib/http/by-route.ts';
import { serve } from '../../lib/http/serve.ts';
import { claimTask, releaseTask, renewClaim, takeBackTask } from '../../lib/tasks/claims.ts';
import { commentOnTask, deleteComment, updateComment } from '../../lib/tasks/discussion/comments.ts';
import { reviewTask } from '../../lib/tasks/discussion/reviews.ts';
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

const review = serve(reviewRow, async ({ params, body, caller, recordResponse }, context) =>
  reviewTask(context, caller.organization, params.id, body, recordResponse),
);

const comment = serve(commentRows.commentOnTask, async ({ params, body, caller, recordResponse }, context) =>
  commentOnTask(context, caller.organization, params.id, body.text, recordResponse),
);

const changeComment = serve(commentRows.updateComment, async ({ params, body, caller }, context) => {
  const { id: taskId, commentId } = params;
  return updateComment(context, caller.organization, { taskId, commentId }, body.text);
});

const removeComment = serve(commentRows.deleteComment, async ({ params, caller }, context) => {
  const { id: taskId, commentId } = params;
  return deleteComment(context, caller.organization, { taskId, commentId });
});

export const handler = byRoute(
  [rows.updateTask, update],
  [claimRows.claimTask, claim],
  [claimRows.claimNextTask, claimNext],
  [claimRows.renewClaim, renew],
  [claimRows.releaseTask, release],
  [claimRows.takeBackTask, takeBack],
  [reviewRow, review],
  [commentRows.commentOnTask, comment],
  [commentRows.updateComment, changeComment],
  [commentRows.deleteComment, removeComment],
);
