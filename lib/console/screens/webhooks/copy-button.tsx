import { useNotices } from '../../components/notices.tsx';

/** A button that copies a text. */
export function CopyButton({ label, text }: { label: string; text: string }) {
  const { say, fail } = useNotices();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say('Copied.');
    } catch (error) {
      fail(error);
    }
  };
  return (
    <button type="button" onClick={copy}>
      {label}
    </button>
  );
}
