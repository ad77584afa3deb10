import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { CrewboardError } from '../../../../client/client.ts';
import type { TaskDetail } from '../../../../client/operations.ts';
import { Failure } from '../../../components/failure.tsx';
import { useTaskWithResult } from '../../../components/hooks/one-task.ts';
import { type Checkbox, withCheckbox } from '../../../components/markdown/checkboxes.ts';
import { Markdown } from '../../../components/markdown/markdown.tsx';
import { useClient, useScope } from '../../../session.ts';
import { isOfEndedClaim } from './task-claim.tsx';

/** The description of a task. Its checkboxes can be ticked, if the token may change tasks. */
export function Description({ task }: { task: TaskDetail }) {
  const canWrite = useScope('tasks:write');
  const { text, tick, error } = useTicks(task);
  return (
    <section aria-label="Description">
      <h3>Description</h3>
      {text ? <Markdown text={text} tick={canWrite ? tick : undefined} /> : <p className="muted">No description.</p>}
      {error != null && !isOfEndedClaim(error, task) && <Failure error={error} />}
    </section>
  );
}

/** How often a checkbox is ticked if others change the task at the same time. */
const mostTries = 5;

/** Returns the description with what the user has ticked, the function that ticks, and why the latest tick was not saved. */
function useTicks(task: TaskDetail) {
  const { id, description = '' } = task;
  const client = useClient();
  const queries = useQueryClient();
  const { queryKey } = useTaskWithResult(id);
  // The checkboxes as the user wants them, until the service has saved or refused them.
  const [pending, setPending] = useState<readonly Checkbox[]>([]);
  const [error, setError] = useState<unknown>();
  const changes = useRef(Promise.resolve());

  /** Changes one checkbox in the description that the panel shows; in the current one, if the task has changed since. */
  async function save(box: Checkbox): Promise<void> {
    const params = { id };
    let version = queries.getQueryData(queryKey) ?? (await client.getTask({ params }));
    for (let tries = 1; ; tries++) {
      const before = version.data.description ?? '';
      const after = withCheckbox(before, box);
      if (after === undefined)
        throw new Error(`The description was changed, and has no checkbox “${box.item}” any more.`);
      if (after === before) return;
      try {
        await client.updateTask({ params, body: { description: after }, ifMatch: version.etag });
        return;
      } catch (failure) {
        if (!(failure instanceof CrewboardError) || failure.status !== 412 || tries === mostTries) throw failure;
        version = await client.getTask({ params });
      }
    }
  }

  /** Ticks after the ticks before it, so that they do not conflict. */
  function tick(box: Checkbox): void {
    setError(undefined);
    setPending((before) => [...before, box]);
    changes.current = changes.current.then(async () => {
      await save(box).catch(setError);
      await queries.invalidateQueries({ queryKey: ['tasks'] });
      setPending((before) => before.filter((one) => one !== box));
    });
  }

  const text = pending.reduce((shown, box) => withCheckbox(shown, box) ?? shown, description);
  return { text, tick, error };
}
