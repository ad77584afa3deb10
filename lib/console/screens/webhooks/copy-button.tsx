import { useCopy } from '../../components/hooks/use-copy.ts';

/** A button that copies a text. */
export function CopyButton({ label, text }: { label: string; text: string }) {
  const copy = useCopy();
  return (
    <button type="button" onClick={() => void copy(text, 'Copied.')}>
      {label}
    </button>
  );
}
