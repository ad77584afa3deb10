import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { CrewboardError } from '../../../../client/client.ts';
import { CopyAsCurl } from '../../../components/copy-as-curl.tsx';
import { SidePanel } from '../../../components/dialogs/dialog.tsx';
import { Failure } from '../../../components/failure.tsx';
import { useTaskWithResult } from '../../../components/hooks/one-task.ts';
import { useHasDraft } from '../../../components/hooks/use-draft.ts';
import { useTitle } from '../../../components/hooks/use-title.ts';
import { Skeleton } from '../../../components/page.tsx';
import { useScope } from '../../../session.ts';
import type { Filters } from '../tasks.ts';
import { Dependencies } from './dependencies.tsx';
import { Description } from './description.tsx';
import { Comments } from './discussion/comments.tsx';
import { History } from './discussion/history.tsx';
import { EditTask, taskDraft } from './edit-task.tsx';
import { Neighbours } from './neighbours.tsx';
import { NextStart } from './next-start.tsx';
import { ReviewForm } from './review/review-form.tsx';
import { TaskResult } from './review/task-result.tsx';
import { RunTask, TaskMenu } from './task-actions.tsx';
import { TaskClaim } from './task-claim.tsx';
import { TaskFacts } from './task-facts.tsx';
import { WaitsFor } from './waits-for.tsx';

/** The interval between two reads of a claimed task, in milliseconds: a renewal of a claim has no event. */
const claimIntervalMs = 10_000;

type Props = {
  id: string;
  filters: Filters;
  /** The id of the task that is being edited. */
  edited: string | undefined;
  /** Begins to edit a task; `undefined` ends it. */
  edit: (id: string | undefined) => void;
  onClose: () => void;
};

/** The panel of a task: everything about it, and what can be done with it. */
export function TaskPanel({ id, filters, edited, edit, onClose }: Props) {
  const canWrite = useScope('tasks:write');
  const { data, dataUpdatedAt, error, refetch } = useQuery({
    ...useTaskWithResult(id),
    // The panel shows the task before until it can show the next one.
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.data.claim ? claimIntervalMs : false),
  });
  const isDeleted = error instanceof CrewboardError && error.status === 404;
  const task = isDeleted ? undefined : data?.data;
  useTitle(data ? `Task: ${data.data.title}` : 'Task');
  const shown = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another task begins at its top
  useEffect(() => {
    shown.current?.closest('.side-panel')?.scrollTo(0, 0);
  }, [task?.id]);
  const hasDraft = useHasDraft(taskDraft(task?.id ?? id));
  const isEditing = task !== undefined && canWrite && (task.id === edited || hasDraft);
  return (
    <SidePanel
      title={data?.data.title ?? 'Task'}
      onClose={onClose}
      beside={task && !isEditing && <Neighbours task={task} filters={filters} />}
    >
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!task && !error && <Skeleton />}
      {task && <TaskClaim task={task} />}
      {isEditing && <EditTask key={task.id} task={task} onClose={() => edit(undefined)} />}
      {task && !isEditing && (
        <div key={task.id} ref={shown} className="task">
          <div className="actions">
            {canWrite && (
              <button type="button" onClick={() => edit(task.id)}>
                Edit
              </button>
            )}
            <RunTask task={task} />
            {canWrite ? (
              <TaskMenu task={task} etag={data?.etag} onDeleted={onClose} />
            ) : (
              <CopyAsCurl operation="getTask" request={{ params: { id: task.id } }} />
            )}
          </div>
          <WaitsFor task={task} />
          <NextStart task={task} />
          <TaskFacts task={task} />
          {task.result && <TaskResult result={task.result} />}
          <ReviewForm task={task} />
          <Description task={task} />
          <Dependencies task={task} />
          <Comments taskId={task.id} />
          <History id={task.id} readAt={dataUpdatedAt} />
        </div>
      )}
    </SidePanel>
  );
}
