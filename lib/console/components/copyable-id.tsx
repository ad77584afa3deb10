import { useCopy } from './hooks/use-copy.ts';

/** An id with a button that copies it. */
export function CopyableId({ id }: { id: string }) {
  const copy = useCopy();
  return (
    <span className="copyable-id">
      <span className="mono">{id}</span>
      <button
        type="button"
        className="quiet"
        aria-label={`Copy ${id}`}
        onClick={() => void copy(id, 'The id is copied.')}
      >
        Copy
      </button>
    </span>
  );
}
