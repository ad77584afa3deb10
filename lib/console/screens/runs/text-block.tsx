import { useNotices } from '../../components/notices.tsx';

/** A text with a title and a button that copies it. A long text scrolls. */
export function TextBlock({ title, text }: { title: string; text: string }) {
  const { say, fail } = useNotices();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say(`${title}: the text is copied.`);
    } catch (error) {
      fail(error);
    }
  };
  return (
    <section className="text-block" aria-label={title}>
      <div className="text-head">
        <h2>{title}</h2>
        <button type="button" className="quiet" aria-label={`Copy ${title.toLowerCase()}`} onClick={copy}>
          Copy
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard cannot scroll the text */}
      <pre className="panel" tabIndex={0}>
        {text}
      </pre>
    </section>
  );
}
