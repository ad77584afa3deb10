import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { TaskDetail } from '../../../../client/operations.ts';
import { useKey, useShortcut } from '../../../keys/use-key.ts';
import { cachedTasks } from '../cached-tasks.ts';
import type { Filters } from '../tasks.ts';

const button = { type: 'button', className: 'quiet' } as const;

/** Buttons that open the tasks above and below a task in its column. So do K and J. At the end of a column they do nothing. */
export function Neighbours({ task, filters }: { task: TaskDetail; filters: Filters }) {
  const cache = useQueryClient();
  const search = useSearch({ from: '/board' });
  const navigate = useNavigate();
  const open = (distance: 1 | -1) => {
    const id = neighbourOf(cache, task, filters, distance);
    // The button of the browser leads back to the board, and not through all tasks.
    if (id) void navigate({ to: '/board', search: { ...search, task: id }, replace: true, resetScroll: false });
  };
  useKey('taskAbove', true, () => open(-1));
  useKey('taskBelow', true, () => open(1));
  return (
    <span className="neighbours">
      <button {...button} aria-label="Task above" {...useShortcut('taskAbove')} onClick={() => open(-1)}>
        ↑
      </button>
      <button {...button} aria-label="Task below" {...useShortcut('taskBelow')} onClick={() => open(1)}>
        ↓
      </button>
    </span>
  );
}

/** Returns the id of the task at a distance from a task, if both are on the pages that their column shows. */
function neighbourOf(
  cache: QueryClient,
  { id, status }: TaskDetail,
  filters: Filters,
  distance: number,
): string | undefined {
  const tasks = cachedTasks(cache, filters, { status, type: 'active' });
  const place = tasks.find(({ task }) => task.id === id)?.place;
  return place === undefined ? undefined : tasks.find((one) => one.place === place + distance)?.task.id;
}
