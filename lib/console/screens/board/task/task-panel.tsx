import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { CopyAsCurl } from '../../../components/copy-as-curl.tsx';
import { SidePanel } from '../../../components/dialog.tsx';
import { Failure } from '../../../components/failure.tsx';
import { Markdown } from '../../../components/markdown.tsx';
import { Skeleton } from '../../../components/page.tsx';
import { useClient, useScope } from '../../../session.ts';
import { Dependencies } from './dependencies.tsx';
import { EditTask } from './edit-task.tsx';
import { DeleteTask, RunTask } from './task-actions.tsx';
import { TaskEvents } from './task-events.tsx';
import { TaskFacts } from './task-facts.tsx';

/** The panel of a task: everything about it, and what can be done with it. */
export function TaskPanel({ id, onClose }: { id: string; onClose: () => void }) {
  const client = useClient();
  const canWrite = useScope('tasks:write');
  const [isEditing, setEditing] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ['tasks', 'one', id],
    queryFn: ({ signal }) => client.getTask({ params: { id }, signal }),
  });
  const task = data?.data;
  return (
    <SidePanel title={task?.title ?? 'Task'} open onClose={onClose}>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {!task && !error && <Skeleton />}
      {task && isEditing && <EditTask task={task} onClose={() => setEditing(false)} />}
      {task && !isEditing && (
        <div className="task">
          <div className="actions">
            {canWrite && (
              <button type="button" onClick={() => setEditing(true)}>
                Edit
              </button>
            )}
            <RunTask task={task} />
            <CopyAsCurl operation="getTask" request={{ params: { id } }} />
            {canWrite && <DeleteTask task={task} etag={data.etag} onDeleted={onClose} />}
          </div>
          <TaskFacts task={task} />
          {task.description ? <Markdown text={task.description} /> : <p className="muted">No description.</p>}
          <Dependencies task={task} />
          <TaskEvents id={id} />
        </div>
      )}
    </SidePanel>
  );
}
