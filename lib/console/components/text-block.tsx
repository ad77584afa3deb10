import { useCopy } from './use-copy.ts';

/** A text with a title and a button that copies it. A long text scrolls. */
export function TextBlock({ title, text }: { title: string; text: string }) {
  const copy = useCopy();
  return (
    <section className="text-block" aria-label={title}>
      <div className="text-head">
        <h2>{title}</h2>
        <button
          type="button"
          className="quiet"
          aria-label={`Copy ${title.toLowerCase()}`}
          onClick={() => void copy(text, `${title}: the text is copied.`)}
        >
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
