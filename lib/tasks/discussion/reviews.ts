import type { Context } from '../../context/context.ts';
import { ApiError } from '../../contract/errors.ts';
import { timestamp } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { Review } from '../../contract/tasks/task-reviews.ts';
import { reviewStatuses, type TaskStatus } from '../../contract/tasks/tasks.ts';
import { retryOnConflict } from '../../table/access/transact.ts';
import { readRunningRows } from '../../table/executions/execution-lists.ts';
import type { RecordResponse } from '../../table/idempotency.ts';
import { commentWrites } from '../../table/tasks/comments.ts';
import type { StoredTask } from '../../table/tasks/task-items.ts';
import { asOf, liveClaim, taskClaimed, withoutFailures } from '../claim-decisions.ts';
import { executionRunning } from '../claims.ts';
import { inRound } from '../rounds.ts';
import { changeWithHold, requireTask } from '../tasks.ts';
import { newComment, noteOf } from './comments.ts';

/** How many comments of reviews a task keeps at hand. */
const reviewsKept = 20;

/**
 * Accepts a task that waits for a review, or sends it back to its agent.
 *
 * @throws `ApiError` `not_found`, `task_claimed`, `execution_running`, `task_not_in_review`, `limit_reached`
 */
export function reviewTask(
  context: Context,
  organization: Organization,
  id: string,
  { decision, comment: text }: Review,
  recordResponse: RecordResponse,
): Promise<StoredTask> {
  return retryOnConflict(context.table, async () => {
    const now = context.clock();
    // Not only the execution of its owner: one that starts on a task in review does not move it.
    const [before, running] = await Promise.all([
      requireTask(context, organization, id),
      readRunningRows(context, organization),
    ]);
    const claim = liveClaim(before, now);
    if (claim) throw taskClaimed(claim);
    if (running.some(({ taskId }) => taskId === id)) throw executionRunning();
    const task = asOf(before, now);
    if (!reviewStatuses.includes(task.status)) throw notInReview(task);
    const comment = text === undefined ? undefined : newComment(context, text, decision);
    const sentBackTo: TaskStatus = task.assignedAgent === undefined ? 'backlog' : 'assigned';
    const version = task.version + 1;
    const reviewed: StoredTask = {
      ...task,
      status: decision === 'accept' ? 'done' : sentBackTo,
      ...(comment && { reviews: [comment.id, ...(task.reviews ?? [])].slice(0, reviewsKept) }),
      lastReview: { version, ...(text !== undefined && { note: noteOf(text) }) },
      version,
      updatedAt: timestamp(now),
    };
    // Workers that failed on it before count as little as after any other change of its status.
    const after = inRound(task, withoutFailures(reviewed), undefined);
    const also = comment ? commentWrites(organization, after, comment) : [];
    return changeWithHold(context, organization, before, after, { recordResponse, also });
  });
}

function notInReview({ status }: StoredTask): ApiError {
  return new ApiError(
    'task_not_in_review',
    `The task is ${status}; only a task in qa_review or up_for_review can be reviewed.`,
  );
}
