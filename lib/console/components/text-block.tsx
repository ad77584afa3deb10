import type { ReactNode } from 'react';
import { useCopy } from './hooks/use-copy.ts';

type Props = {
  title: string;
  text: string;
  /** What is shown of the text, for example with line breaks; the copy is always the text itself. */
  shown?: string;
  /** What is shown in place of the text. */
  formatted?: ReactNode;
  /** What is beside the button that copies the text. */
  action?: ReactNode;
};

/** A text with a title and a button that copies it. A long text scrolls. */
export function TextBlock({ title, text, shown = text, formatted, action }: Props) {
  const copy = useCopy();
  return (
    <section className="text-block" aria-label={title}>
      <div className="text-head">
        <h2>{title}</h2>
        <div className="actions">
          {action}
          <button
            type="button"
            className="quiet"
            aria-label={`Copy ${title.toLowerCase()}`}
            onClick={() => void copy(text, `${title}: the text is copied.`)}
          >
            Copy
          </button>
        </div>
      </div>
      {formatted ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard cannot scroll the text
        <div className="panel text-body" tabIndex={0}>
          {formatted}
        </div>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard cannot scroll the text
        <pre className="panel text-body" tabIndex={0}>
          {shown}
        </pre>
      )}
    </section>
  );
}
