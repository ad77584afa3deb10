import { ApiError } from '../contract/errors.ts';
import { type Claim, type ClaimEndReason, claimSeconds, failedClaimsLimit } from '../contract/tasks/claims.ts';
import { isLeaseOver } from '../table/lease.ts';
import { openStatuses } from '../table/tasks/ready-rows.ts';
import type { ClaimEnd, StoredTask } from '../table/tasks/task-items.ts';

/**
 * What claims mean for a task, decided from the task and a time. A claim is a lease that a worker outside of the service holds:
 * whoever reads the task decides by the clock whether the claim lasts, and nothing has to end it.
 */

/** Returns whether a task waits for a worker, as far as its status says. */
export const isOpenTask = ({ status }: Pick<StoredTask, 'status'>): boolean => openStatuses.includes(status);

/** Returns whether a task is offered to workers, as far as the task alone says. */
export function isOffered(task: StoredTask): boolean {
  return isOpenTask(task) && task.stopped === undefined;
}

/** Returns whether a change of a task lets its agent take it: as far as the two states say, it was not offered to this agent. */
export function becomesReady(before: StoredTask | undefined, after: StoredTask): boolean {
  const waitsFor = (task: StoredTask | undefined) =>
    task && isOffered(task) && !task.held ? (task.assignedAgentId ?? task.assignedAgent) : undefined;
  const agent = waitsFor(after);
  return agent !== undefined && agent !== waitsFor(before);
}

/**
 * Returns the claim on a task; `undefined` if there is none, or if it is over.
 *
 * @param now Unix time, in ms
 */
export function liveClaim({ claim }: StoredTask, now: number): Claim | undefined {
  if (claim === undefined) return undefined;
  return isLeaseOver(Date.parse(claim.expiresAt), now, claimSeconds.most * 1_000) ? undefined : claim;
}

/** Returns the task as readers see it: without a claim that is over. Its status follows within two minutes. */
export function withoutDeadClaim<Seen extends StoredTask>(task: Seen, now: number): Seen {
  if (task.claim === undefined || liveClaim(task, now)) return task;
  const { claim, ...rest } = task;
  return rest as Seen;
}

/** Returns the task without its claim. It gets the status from before the claim, unless somebody has set another. */
export function withoutClaim(task: StoredTask, reason: ClaimEndReason, note = task.claim?.note): StoredTask {
  const { claim, claimFrom, ...rest } = task;
  if (claim === undefined) return task;
  const claimEnd: ClaimEnd = { id: claim.id, worker: claim.worker, reason, ...(note !== undefined && { note }) };
  return { ...rest, status: task.status === 'in_progress' ? (claimFrom ?? 'backlog') : task.status, claimEnd };
}

/** Returns the task as it is at a time: without a claim that is over. The same object if it has none. */
export function asOf(task: StoredTask, now: number): StoredTask {
  return task.claim === undefined || liveClaim(task, now) ? task : withoutClaim(task, 'expired');
}

/** Returns an open task after a further failure: it is stopped after the third in a row. */
export function afterFailure(task: StoredTask, now: string): StoredTask {
  const failedClaims = (task.failedClaims ?? 0) + 1;
  if (failedClaims < failedClaimsLimit || !isOpenTask(task)) return { ...task, failedClaims };
  const note = task.claimEnd?.note;
  const reason = `${failedClaims} workers in a row have released it as failed${note === undefined ? '.' : `, the last one with: ${note}`}`;
  return { ...task, failedClaims, stopped: { reason, at: now } };
}

/** Returns the task without failures before: it is offered again, unless one of its dependencies is not done. */
export function withoutFailures(task: StoredTask): StoredTask {
  const { failedClaims, stopped, ...rest } = task;
  return rest;
}

/** Returns the error for a task that a worker has claimed. */
export function taskClaimed({ worker, expiresAt }: Claim): ApiError {
  return new ApiError(
    'task_claimed',
    'A worker has claimed the task; wait for its release, name its claimId, or take the task back with DELETE …/claim.',
    [
      {
        path: 'claim',
        code: 'blocking',
        message: 'The task is claimed by the worker in this detail, until the time in it.',
        worker,
        expiresAt,
      },
    ],
  );
}

/** Returns the error for a claim that has ended, or is not the one of the task. */
export function claimLost(): ApiError {
  return new ApiError(
    'claim_lost',
    'This claim has ended, or the task has another one; stop the work, and claim the task again.',
  );
}

/** Returns the error for a task that does not wait for a worker. */
export function taskNotOpen({ status, stopped }: StoredTask): ApiError {
  return new ApiError(
    'task_not_open',
    stopped
      ? 'The task is stopped because workers have failed on it; change its status, assign it or take it back first.'
      : `The task is ${status}; only a task in backlog or assigned can be claimed.`,
  );
}
