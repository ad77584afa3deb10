import { useCopy } from './use-copy.ts';

/**
 * A text with a title and a button that copies it. A long text scrolls.
 *
 * @param props.shown what is shown of the text, for example with line breaks; the copy is always the text itself
 */
export function TextBlock({ title, text, shown = text }: { title: string; text: string; shown?: string }) {
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
        {shown}
      </pre>
    </section>
  );
}
