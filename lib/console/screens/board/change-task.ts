import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { CrewboardError } from '../../../client/client.ts';
import type { TaskDetail, TaskPatch } from '../../../client/operations.ts';
import { useNotices } from '../../components/notices.tsx';
import { useClient } from '../../session.ts';
import type { SeenTask } from './tasks.ts';

/** A change that was not made, because the task is no longer as the user has seen it. */
export type Conflict = { seen: SeenTask; now: TaskDetail; etag: string | undefined; patch: TaskPatch };

/** The function that changes a task, and the conflict that waits for a decision of the user. */
export type TaskChanges = {
  /** Changes a task if it still is as the user has seen it. Returns whether it was changed; the user sees why not. */
  change: (seen: SeenTask, patch: TaskPatch) => Promise<boolean>;
  conflict: Conflict | undefined;
  /** Makes the change of the conflict. Another change in the meantime is a new conflict. */
  overwrite: () => Promise<boolean>;
  /** Forgets the change of the conflict. */
  dismiss: () => void;
};

/**
 * Returns the function of all changes of tasks: they send `If-Match`, so they never overwrite what the user has not seen.
 *
 * @param showError shows why a change was not made; a notice if unset
 */
export function useTaskChanges(showError?: (error: unknown, patch: TaskPatch) => void): TaskChanges {
  const client = useClient();
  const queries = useQueryClient();
  const { fail } = useNotices();
  const [conflict, setConflict] = useState<Conflict>();

  /** Sends the change. After 412, the conflict is between `seen` and the task that is read then. */
  async function send(seen: SeenTask, etag: string | undefined, patch: TaskPatch): Promise<boolean> {
    const params = { id: seen.id };
    try {
      await client.updateTask({ params, body: patch, ifMatch: etag });
      return true;
    } catch (error) {
      if (!(error instanceof CrewboardError) || error.status !== 412) throw error;
      const { data: now, etag } = await client.getTask({ params });
      setConflict({ seen, now, etag, patch });
      return false;
    }
  }

  /** Runs a change, and waits until all lists show its result. */
  async function run(patch: TaskPatch, change: () => Promise<boolean>): Promise<boolean> {
    try {
      return await change();
    } catch (error) {
      (showError ?? fail)(error, patch);
      return false;
    } finally {
      // Lists of executions have the titles of tasks, and a new title has no event.
      void queries.invalidateQueries({ queryKey: ['executions'] });
      await queries.invalidateQueries({ queryKey: ['tasks'] });
    }
  }

  return {
    change: (seen, patch) =>
      run(patch, async () => {
        // Lists have no ETag. The time of the last change says whether that of the task belongs to what the list shows.
        const { data: now, etag } = await client.getTask({ params: { id: seen.id } });
        if (now.updatedAt === seen.updatedAt) return send(seen, etag, patch);
        setConflict({ seen, now, etag, patch });
        return false;
      }),
    conflict,
    overwrite: async () => {
      if (!conflict) return false;
      const { now, etag, patch } = conflict;
      setConflict(undefined);
      return run(patch, () => send(now, etag, patch));
    },
    dismiss: () => setConflict(undefined),
  };
}
