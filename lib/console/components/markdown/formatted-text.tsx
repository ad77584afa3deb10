import { useState } from 'react';
import { indented, isJson } from '../format/indented.ts';
import { TextBlock } from '../text-block.tsx';
import { Markdown } from './markdown.tsx';

/**
 * A Markdown text with a title, which is formatted unless the user wants to see it as it was written. A JSON object or array is
 * shown with line breaks. A copy is always the text itself.
 */
export function FormattedText({ title, text }: { title: string; text: string }) {
  const [isRaw, setRaw] = useState(false);
  return (
    <TextBlock
      title={title}
      text={text}
      shown={isRaw ? text : indented(text)}
      formatted={!isRaw && !isJson(text) && <Markdown text={text} />}
      action={
        <button
          type="button"
          className="quiet"
          aria-label={`Raw ${title.toLowerCase()}`}
          aria-pressed={isRaw}
          onClick={() => setRaw(!isRaw)}
        >
          Raw
        </button>
      }
    />
  );
}
