import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { tableSchema } from '../../names/table-schema.ts';
import { type Authorship, authorship } from '../access/current-request.ts';
import { keys } from '../access/keys.ts';
import type { Item } from '../access/write.ts';
import type { StoredTask } from './task-items.ts';

/**
 * What remains of a deleted task for 90 days: its event and the end of its history follow from it. The record of the deletion itself
 * does not say who has deleted the task.
 */

/** The kind of deleted tasks in the stream. */
export const deletedTaskKind = 'deleted-task';

/** For how long a deleted task is kept, in seconds: as long as its events. */
const keptForSeconds = 90 * 24 * 60 * 60;

/** A deleted task: as it was, and when and by whom it was deleted. */
export type DeletedTask = Pick<StoredTask, 'id' | 'title' | 'status' | 'version'> &
  Partial<Pick<StoredTask, 'assignedAgent' | 'projectId'>> &
  Authorship & {
    /** ISO 8601. */
    deletedAt: string;
  };

/** Returns the item of a deleted task. */
export function deletedTaskItem(organization: Organization, task: StoredTask, deletedAt: string): Item {
  const { title, status, version, assignedAgent, projectId } = task;
  return {
    ...keys.deletedTask(organization, ulidOf(task.id)),
    kind: deletedTaskKind,
    ...{ title, status, version, deletedAt },
    ...(assignedAgent !== undefined && { assignedAgent }),
    ...(projectId !== undefined && { projectId }),
    ...authorship(),
    [tableSchema.expiry]: Math.floor(Date.parse(deletedAt) / 1000) + keptForSeconds,
  };
}

/** Returns the deleted task of an item. */
export function deletedTaskFrom({
  pk: _pk,
  sk,
  kind: _kind,
  [tableSchema.expiry]: _expiry,
  ...rest
}: Item): DeletedTask {
  return { ...rest, id: `tk_${sk}` } as DeletedTask;
}
