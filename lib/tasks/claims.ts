import type { Context } from '../context/context.ts';
import { ApiError, notFound } from '../contract/errors.ts';
import { timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { type Claim, claimSeconds } from '../contract/tasks/claims.ts';
import type { Comment } from '../contract/tasks/comments.ts';
import type { ClaimRelease } from '../contract/tasks/task-claims.ts';
import { retryOnConflict } from '../table/access/transact.ts';
import { readExecutionHead } from '../table/executions/executions.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import { storeRenewal } from '../table/tasks/renewals.ts';
import type { StoredTask } from '../table/tasks/task-items.ts';
import { readTasks } from '../table/tasks/tasks.ts';
import {
  afterFailure,
  asOf,
  claimLost,
  isOffered,
  liveClaim,
  taskClaimed,
  taskNotOpen,
  withoutClaim,
  withoutFailures,
} from './claim-decisions.ts';
import { rejectWhileBlocked } from './decisions.ts';
import { readReviewComments } from './review-comments.ts';
import { changeWithHold, requireTask } from './tasks.ts';

/** A claimed task, and what reviewers have said about earlier work on it. */
export type ClaimedTask = StoredTask & { reviewComments?: Comment[] };

/** A claim to take: who takes it, and for how long. */
export type NewClaim = { worker: string; leaseSeconds?: number | undefined };

/**
 * Gives a task to a worker, or renews the claim that the worker names.
 *
 * @throws `ApiError` `not_found`, `claim_lost`, `task_claimed`, `task_not_open`, `execution_running`,
 *   `task_blocked`
 */
export function claimTask(
  context: Context,
  organization: Organization,
  id: string,
  { claimId, ...claim }: NewClaim & { claimId?: string | undefined },
  recordResponse: RecordResponse,
): Promise<ClaimedTask> {
  return retryOnConflict(context.table, async () => {
    if (claimId === undefined) return claimOnce(context, organization, id, claim, recordResponse);
    const task = await requireTask(context, organization, id);
    return renew(context, organization, task, { claimId, ...claim }, recordResponse);
  });
}

/**
 * Gives a task to a worker, in one try.
 *
 * @param leavesOut whether the worker does not get this task, as if it were not open
 * @throws `Conflict` if the task has changed since it was read; `ApiError` as `claimTask`
 */
export async function claimOnce(
  context: Context,
  organization: Organization,
  id: string,
  { worker, leaseSeconds = claimSeconds.usual }: NewClaim,
  recordResponse: RecordResponse,
  leavesOut: (task: StoredTask) => Promise<boolean> = async () => false,
): Promise<ClaimedTask> {
  const before = await requireTask(context, organization, id);
  const now = context.clock();
  const live = liveClaim(before, now);
  if (live) throw taskClaimed(live);
  const task = asOf(before, now);
  if (!isOffered(task)) throw await whyNotOffered(context, organization, task);
  if (await leavesOut(task)) throw taskNotOpen(task);
  const [dependencies, isRunning, reviewComments] = await Promise.all([
    readTasks(context, organization, task.dependsOn),
    hasRunningExecution(context, organization, task),
    readReviewComments(context, organization, task),
  ]);
  if (isRunning) throw executionRunning();
  rejectWhileBlocked(dependencies);
  const claim: Claim = { id: `cl_${context.ulid()}`, worker, expiresAt: timestamp(now + leaseSeconds * 1_000) };
  const after: StoredTask = {
    ...task,
    status: 'in_progress',
    claim,
    claimFrom: task.status,
    version: task.version + 1,
    updatedAt: timestamp(now),
  };
  const reviewed = reviewComments.length > 0 && { reviewComments };
  const record: RecordResponse =
    recordResponse && ((claimed) => recordResponse({ ...(claimed as StoredTask), ...reviewed }));
  const claimed = await changeWithHold(context, organization, before, after, { recordResponse: record });
  return { ...claimed, ...reviewed };
}

/** Returns the error for a task that waits for no worker: an execution works on it, or it is not open. */
async function whyNotOffered(context: Context, organization: Organization, task: StoredTask): Promise<ApiError> {
  const isRunning = task.status === 'in_progress' && (await hasRunningExecution(context, organization, task));
  return isRunning ? executionRunning() : taskNotOpen(task);
}

async function hasRunningExecution(
  context: Context,
  organization: Organization,
  { owner }: StoredTask,
): Promise<boolean> {
  if (owner === undefined) return false;
  return (await readExecutionHead(context, { organization, id: owner }))?.status === 'running';
}

/**
 * Extends a claim, and stores a note.
 *
 * @throws `ApiError` `not_found`, `claim_lost`
 */
export function renewClaim(
  context: Context,
  organization: Organization,
  id: string,
  renewal: { claimId: string; leaseSeconds?: number | undefined; note?: string | undefined },
  recordResponse: RecordResponse,
): Promise<StoredTask> {
  return retryOnConflict(context.table, async () => {
    const task = await requireTask(context, organization, id);
    return renew(context, organization, task, renewal, recordResponse);
  });
}

async function renew(
  context: Context,
  organization: Organization,
  task: StoredTask,
  { claimId, leaseSeconds = claimSeconds.usual, note }: Parameters<typeof renewClaim>[3],
  recordResponse: RecordResponse,
): Promise<StoredTask> {
  const now = context.clock();
  const live = requireClaim(task, claimId, now);
  const claim: Claim = {
    ...live,
    expiresAt: timestamp(now + leaseSeconds * 1_000),
    ...(note !== undefined && { note }),
  };
  const after = { ...task, claim };
  await storeRenewal(context, organization, task, claim, timestamp(now), recordResponse?.(after));
  return after;
}

/**
 * Ends a claim as its worker says.
 *
 * @throws `ApiError` `not_found`, `claim_lost`
 */
export function releaseTask(
  context: Context,
  organization: Organization,
  id: string,
  release: ClaimRelease,
  recordResponse: RecordResponse,
): Promise<StoredTask> {
  const { claimId, status, note, failed = false } = release;
  return retryOnConflict(context.table, async () => {
    const now = context.clock();
    const before = await requireTask(context, organization, id);
    requireClaim(before, claimId, now);
    const ended = withoutClaim(before, failed ? 'failed' : 'released', note);
    const released = status === undefined ? ended : { ...ended, status };
    const after = failed ? afterFailure(released, timestamp(now)) : withoutFailures(released);
    return changeWithHold(context, organization, before, nextVersion(after, now), { recordResponse });
  });
}

/**
 * Takes a task back from its worker, and frees a task that is stopped.
 *
 * @throws `ApiError` `not_found`, also if the task has no claim and is not stopped
 */
export function takeBackTask(context: Context, organization: Organization, id: string): Promise<StoredTask> {
  return retryOnConflict(context.table, async () => {
    const now = context.clock();
    const before = await requireTask(context, organization, id);
    const reason = liveClaim(before, now) ? 'taken_back' : 'expired';
    if (!before.claim && !before.stopped) throw notFound('claim');
    const after = withoutFailures(withoutClaim(before, reason));
    return changeWithHold(context, organization, before, nextVersion(after, now), { recordResponse: undefined });
  });
}

/** Ends the claim on a task, if it is over. Returns whether the task has no claim any more. */
export async function endExpiredClaim(context: Context, organization: Organization, id: string): Promise<boolean> {
  return retryOnConflict(context.table, async () => {
    const now = context.clock();
    const before = await requireTask(context, organization, id).catch(ignoreNotFound);
    if (!before?.claim) return true;
    const after = asOf(before, now);
    if (after === before) return false;
    await changeWithHold(context, organization, before, nextVersion(after, now), { recordResponse: undefined });
    return true;
  });
}

const nextVersion = (task: StoredTask, now: number): StoredTask => ({
  ...task,
  version: task.version + 1,
  updatedAt: timestamp(now),
});

/** Returns the claim on a task. Throws `ApiError` `claim_lost` if it is another one, or over. */
function requireClaim(task: StoredTask, claimId: string, now: number): Claim {
  const claim = liveClaim(task, now);
  if (claim?.id !== claimId) throw claimLost();
  return claim;
}

/** Returns the error for a task that an execution works on. */
export function executionRunning(): ApiError {
  return new ApiError('execution_running', 'An execution is working on the task; wait for its end, or cancel it.');
}

function ignoreNotFound(error: unknown): undefined {
  if (!(error instanceof ApiError && error.code === 'not_found')) throw error;
}
