import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { TaskDetail, TaskReference } from '../../../client/operations.ts';
import { Failure } from '../../components/failure.tsx';
import { Status } from '../../components/page.tsx';
import { useClient } from '../../session.ts';
import { TaskLink } from './task-link.tsx';

/** The tasks that must be done first, and those that these depend on in turn. */
export function Dependencies({ task }: { task: TaskDetail }) {
  if (task.dependsOn.length === 0) return null;
  return (
    <section>
      <h3>
        {task.blockedBy.length === 0
          ? 'Dependencies, all done'
          : `Blocked by ${task.blockedBy.length} of ${task.dependsOn.length} dependencies`}
      </h3>
      <ul className="dependencies">
        {task.dependsOn.map((one) => (
          <li key={one.id}>
            <Dependency task={one} />
            <Further id={one.id} title={one.title} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Dependency({ task: { id, title, status } }: { task: TaskReference }) {
  return (
    <p className="dependency">
      <Status value={status} />
      <TaskLink id={id} title={title} />
    </p>
  );
}

/** The dependencies of a dependency. They are read when the user opens them. */
function Further({ id, title }: { id: string; title: string }) {
  const client = useClient();
  const [isOpen, setOpen] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ['tasks', 'one', id],
    queryFn: ({ signal }) => client.getTask({ params: { id }, signal }),
    enabled: isOpen,
  });
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary aria-label={`“${title}” depends on`}>depends on</summary>
      {error && <Failure error={error} retry={() => void refetch()} />}
      {data?.data.dependsOn.length === 0 && <p className="muted">No other tasks</p>}
      <ul>
        {data?.data.dependsOn.map((one) => (
          <li key={one.id}>
            <Dependency task={one} />
          </li>
        ))}
      </ul>
    </details>
  );
}
