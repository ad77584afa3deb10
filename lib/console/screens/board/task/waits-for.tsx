import { Link, useSearch } from '@tanstack/react-router';
import { Fragment } from 'react';
import type { TaskDetail } from '../../../../client/operations.ts';

/** The number of tasks that are named. The graph of dependencies has all. */
const mostNamed = 3;

/** Returns how a task begins when its dependencies are done. */
function startOf(autoRun: TaskDetail['autoRun']): string {
  if (!autoRun) return 'Starts';
  return autoRun.state === 'waiting' ? 'Starts by itself' : 'Can start';
}

/** Says which tasks must be done before a worker or an agent can start with a task; nothing if it is not theirs to start. */
export function WaitsFor({ task: { status, stopped, blockedBy, autoRun } }: { task: TaskDetail }) {
  const search = useSearch({ from: '/board' });
  const isOpen = status === 'backlog' || status === 'assigned';
  if (!isOpen || stopped || blockedBy.length === 0) return null;
  const others = blockedBy.length - mostNamed;
  return (
    <p className="waits-for">
      {startOf(autoRun)} when {blockedBy.length === 1 ? '1 task is done' : `${blockedBy.length} tasks are done`}:{' '}
      {blockedBy.slice(0, mostNamed).map(({ id, title }, at) => (
        <Fragment key={id}>
          {at > 0 && ', '}
          <Link to="/board" search={{ ...search, task: id }} className="ellipsis" title={title}>
            {title}
          </Link>
        </Fragment>
      ))}
      {others > 0 && ` and ${others} more`}
    </p>
  );
}
