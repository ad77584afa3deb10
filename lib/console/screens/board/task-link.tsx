import { Link, useSearch } from '@tanstack/react-router';

/** A link that opens the panel of a task on the board. The filters of the board stay. */
export function TaskLink({ id, title }: { id: string; title: string }) {
  const search = useSearch({ from: '/board' });
  return (
    // A link can be dragged by itself; then its card could not.
    <Link to="/board" search={{ ...search, task: id }} draggable={false} className="ellipsis" title={title}>
      {title}
    </Link>
  );
}
