import { type Actor, theService } from '../../contract/actors.ts';
import type { Page } from '../../contract/endpoint.ts';
import type { Organization } from '../../contract/organization.ts';
import type { FieldChange, HistoryEntry } from '../../contract/tasks/history.ts';
import type { TableContext } from '../../table/access/client.ts';
import type { ExecutionHead } from '../../table/executions/execution-items.ts';
import { changesBetween } from '../../table/history/field-changes.ts';
import { type NewEntry, readHistoryPage } from '../../table/history/history-rows.ts';
import type { StoredComment } from '../../table/tasks/comments.ts';
import type { DeletedTask } from '../../table/tasks/deleted-tasks.ts';
import type { ClaimEnd, StoredTask } from '../../table/tasks/task-items.ts';
import { withoutClaim } from '../claim-decisions.ts';
import { requireTask } from '../tasks.ts';
import { noteOf } from './comments.ts';

/**
 * The entries of a task's history, as they follow from the records of the stream. Each action has one entry: the record of the
 * item that says most about it writes it, and all others leave it out.
 */

/** The fields whose changes a history shows. */
const fields = [
  ...(['title', 'description', 'status', 'priority', 'assignedAgent', 'projectId', 'dependsOn'] as const),
  'stopped',
];

/**
 * Returns a page of the history of a task, the newest entries first.
 *
 * @throws `ApiError` `not_found`
 */
export async function getTaskHistory(
  context: TableContext,
  organization: Organization,
  id: string,
  page: { limit: number; offset: number },
): Promise<Page<HistoryEntry>> {
  const [, found] = await Promise.all([
    requireTask(context, organization, id),
    readHistoryPage(context, { organization, of: 'task', id }, page),
  ]);
  return found;
}

/**
 * Returns the entries of a change of a task. A change that finds an expired claim ends it first, which is an action of the service
 * with an entry of its own.
 *
 * @param before `undefined` for a new task
 */
export function entriesOfTask(before: StoredTask | undefined, after: StoredTask): NewEntry[] {
  const { by = theService, requestId, version, updatedAt: at } = after;
  const made = { by, ...(requestId !== undefined && { requestId }) };
  if (!before) {
    const changes = changesBetween(undefined, shown(after), fields);
    return [{ at, order: orderOf(version, 1), kind: 'created', ...made, changes }];
  }
  if (version === before.version) return noteEntries(before, after);
  const ended = endedClaim(before, after);
  if (ended?.reason !== 'expired')
    return [{ at, order: orderOf(version, 1), ...made, ...actionOf(before, after, ended) }];
  const between = withoutClaim(before, 'expired');
  const expired: NewEntry = {
    ...{ at, order: orderOf(version, 0), kind: 'released', by: theService, note: noteOfEnd(ended) },
    changes: changesBetween(shown(before), shown(between), fields),
  };
  const action = actionOf(between, after, undefined);
  // The change is no more than the end of the claim: the service ended it, or somebody took the task back too late.
  const isAll = action.kind === 'changed' && action.changes.length === 0;
  return isAll ? [expired] : [expired, { at, order: orderOf(version, 1), ...made, ...action }];
}

/** What a change of a task was: `by` only if it names an execution. */
type Action = Pick<NewEntry, 'kind' | 'note'> & { changes: FieldChange[]; by?: Actor };

/**
 * Returns what a change of a task was.
 *
 * @param ended the end of the claim by this change, if it has ended one
 */
function actionOf(before: StoredTask, after: StoredTask, ended: ClaimEnd | undefined): Action {
  const { by = theService, version, lastReview, owner, claim } = after;
  const changes = changesBetween(shown(before), shown(after), fields);
  const action = (kind: Action['kind'], note?: string): Action => ({
    kind,
    changes,
    ...(note !== undefined && { note }),
  });
  if (lastReview?.version === version) return action('reviewed', lastReview.note);
  if (owner !== undefined && owner !== before.owner)
    return { ...action('execution_started'), by: { ...by, executionId: owner } };
  if (before.owner !== undefined && owner === undefined)
    return {
      ...action('execution_ended', noteOfExecution(before.owner, after)),
      by: { ...by, executionId: before.owner },
    };
  if (claim && claim.id !== before.claim?.id) return action('claimed', `Worker: ${claim.worker}`);
  return ended ? action('released', noteOfEnd(ended)) : action('changed');
}

/** Returns the entry of a deleted task. */
export function entryOfDeletion({ deletedAt: at, version, by = theService, requestId }: DeletedTask): NewEntry {
  return { at, order: orderOf(version + 1, 1), kind: 'deleted', by, ...(requestId !== undefined && { requestId }) };
}

/** Returns the entries of a new comment; none for the comment of a review, whose entry has it. */
export function entriesOfComment({ id, text, author, review, task, createdAt, requestId }: StoredComment): NewEntry[] {
  if (review) return [];
  const made = { by: author, ...(requestId !== undefined && { requestId }), note: noteOf(text) };
  return [{ at: createdAt, order: `${orderOf(task.version, 2)}#${id}`, kind: 'commented', ...made }];
}

/**
 * Returns the entries of the start and of the end of an execution that has not moved its task: another execution worked on it, or
 * somebody had moved it. The change of a task that was moved has them.
 */
export function entriesOfExecution(before: ExecutionHead | undefined, after: ExecutionHead): NewEntry[] {
  const { id, by = theService, status, startedAt, completedAt, movesTask, requestId } = after;
  if (movesTask || status === before?.status) return [];
  const isStart = status === 'running';
  return [
    {
      at: isStart ? startedAt : (completedAt ?? startedAt),
      order: `execution#${id}#${isStart ? 0 : 1}`,
      kind: isStart ? 'execution_started' : 'execution_ended',
      by: { ...by, executionId: id },
      ...(isStart && requestId !== undefined && { requestId }),
      ...(status === 'failed' && { note: didNotComplete }),
    },
  ];
}

const didNotComplete = 'The execution did not complete.';

/** Returns the order of an entry among the entries of its time: by the version of the task, and then by its place in the change. */
const orderOf = (version: number, place: number) => `${String(version).padStart(9, '0')}#${place}`;

/** Returns a task with the fields that a history shows in another form. */
const shown = (task: StoredTask) => ({ ...task, stopped: task.stopped?.reason });

/** Returns the entry of a renewal with a new note. */
function noteEntries(before: StoredTask, after: StoredTask): NewEntry[] {
  const { claim, version, renewedAt, by = theService, requestId } = after;
  const isNew = claim !== undefined && claim.id === before.claim?.id && claim.note !== before.claim.note;
  if (!isNew || claim.note === undefined || renewedAt === undefined) return [];
  const made = { by, ...(requestId !== undefined && { requestId }), note: claim.note };
  return [{ at: renewedAt, order: `${orderOf(version, 3)}#${claim.expiresAt}`, kind: 'changed', ...made }];
}

/** Returns the end of a claim by a change; `undefined` if the change has ended none. */
function endedClaim(before: StoredTask, after: StoredTask): ClaimEnd | undefined {
  const { claim } = before;
  if (!claim || after.claim?.id === claim.id) return undefined;
  const { id, worker } = claim;
  return after.claimEnd?.id === id ? after.claimEnd : { id, worker, reason: 'expired' };
}

function noteOfEnd({ worker, reason, note }: ClaimEnd): string {
  if (reason === 'expired') return `The claim of ${worker} has expired.`;
  if (reason === 'taken_back') return `The task was taken back from ${worker}.`;
  return note ?? (reason === 'failed' ? `${worker} has failed.` : `${worker} has released the task.`);
}

function noteOfExecution(executionId: string, { accepted, status, lastExecution }: StoredTask): string | undefined {
  if (lastExecution !== executionId) return didNotComplete;
  return status === 'done' && accepted?.executionId === executionId ? 'Accepted by the quality gates.' : undefined;
}
