import { LoadDemo } from '../../../demo/load-demo.tsx';
import { useScope } from '../../../session.ts';

/** What to do on a board without tasks. */
export function EmptyBoard({ create }: { create: () => void }) {
  const canWrite = useScope('tasks:write');
  return (
    <section className="board-start" aria-label="First steps">
      <p>
        <strong>The board has no tasks yet.</strong>{' '}
        {canWrite
          ? 'A task goes through these six columns, from left to right, while people and agents work on it.'
          : 'Your access token may only read. What others create appears here.'}
      </p>
      {canWrite && (
        <LoadDemo>
          <button type="button" onClick={create}>
            Create the first task
          </button>
        </LoadDemo>
      )}
    </section>
  );
}
