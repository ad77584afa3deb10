import type { Token, Tokens } from 'marked';
import { createContext, Fragment, type ReactNode, useContext, useMemo } from 'react';
import { type Checkbox, checkboxesOf } from './checkboxes.ts';
import { readMarkdown } from './markdown-tokens.ts';

type Tick = (box: Checkbox) => void;

const CheckboxContext = createContext<{ boxes: ReadonlyMap<Token, Checkbox>; tick?: Tick | undefined }>({
  boxes: new Map(),
});

/**
 * Shows a Markdown text. Its parts become React elements, and no HTML is parsed: HTML in the text is shown as it is, as are
 * links to anything but web pages and mail addresses. Images become links, because the console loads nothing from others.
 * A text that exceeds the limits of Markdown is shown as it is, with a note.
 *
 * @param props.tick called with the new state of a checkbox that the user ticks; without it, checkboxes cannot be ticked
 */
export function Markdown({ text, tick }: { text: string; tick?: Tick | undefined }) {
  const { tokens } = useMemo(() => readMarkdown(text), [text]);
  const boxes = useMemo(() => tokens && checkboxesOf(tokens), [tokens]);
  if (tokens && boxes)
    return (
      <div className="markdown">
        <CheckboxContext value={{ boxes, tick }}>{partsOf(tokens)}</CheckboxContext>
      </div>
    );
  return (
    <div className="markdown">
      <p className="muted">This text has too many parts to be formatted. It is shown as it was written.</p>
      <pre>{text}</pre>
    </div>
  );
}

function partsOf(tokens: readonly Token[] | undefined): ReactNode {
  return (tokens ?? []).map((token, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a changed text is rendered anew, and parts have no state
    <Fragment key={at}>{partOf(token)}</Fragment>
  ));
}

function partOf(token: Token): ReactNode {
  const any = token as Tokens.Generic;
  const parts = () => partsOf(any.tokens);
  switch (any.type) {
    case 'space':
    case 'def':
      return null;
    case 'paragraph':
      return <p>{parts()}</p>;
    case 'heading': {
      // The text is below the heading of its panel.
      const Heading = `h${Math.min(6, any.depth + 2)}` as 'h3';
      return <Heading>{parts()}</Heading>;
    }
    case 'code':
      return (
        <pre>
          <code>{any.text}</code>
        </pre>
      );
    case 'codespan':
      return <code>{any.text}</code>;
    case 'blockquote':
      return <blockquote>{parts()}</blockquote>;
    case 'list':
      return listOf(token as Tokens.List);
    case 'checkbox':
      return <CheckboxOf token={token} />;
    case 'strong':
      return <strong>{parts()}</strong>;
    case 'em':
      return <em>{parts()}</em>;
    case 'del':
      return <del>{parts()}</del>;
    case 'br':
      return <br />;
    case 'hr':
      return <hr />;
    case 'link':
      return linkOf(any.href, parts());
    case 'image':
      return linkOf(any.href, any.text || any.href);
    case 'table':
      return tableOf(token as Tokens.Table);
    case 'text':
      return any.tokens ? parts() : decoded(any.text);
    case 'escape':
      return any.text;
    default:
      return any.raw;
  }
}

function CheckboxOf({ token }: { token: Token }) {
  const { boxes, tick } = useContext(CheckboxContext);
  const box = boxes.get(token);
  if (!box) return null;
  const { item, isChecked } = box;
  if (!tick) return <input type="checkbox" checked={isChecked} disabled aria-label={isChecked ? 'done' : 'not done'} />;
  return (
    <input
      type="checkbox"
      checked={isChecked}
      aria-label={item}
      onChange={({ target }) => tick({ ...box, isChecked: target.checked })}
    />
  );
}

function listOf({ items, ordered, start }: Tokens.List): ReactNode {
  const entries = items.map(({ task, tokens }, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: see above
    <li key={at} className={task ? 'task-item' : undefined}>
      {partsOf(tokens)}
    </li>
  ));
  return ordered ? <ol start={start === '' ? 1 : start}>{entries}</ol> : <ul>{entries}</ul>;
}

function tableOf({ header, rows }: Tokens.Table): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard cannot scroll a wide table
    <section className="table" aria-label="Table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {header.map(({ tokens }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: see above
              <th key={at}>{partsOf(tokens)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, nth) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: see above
            <tr key={nth}>
              {row.map(({ tokens }, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: see above
                <td key={at}>{partsOf(tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function linkOf(target: string, content: ReactNode): ReactNode {
  const href = safeHref(target);
  if (href === undefined) return content;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {content}
    </a>
  );
}

/** Returns the URL of a link if it is complete, and that of a web page or a mail address. */
function safeHref(target: string): string | undefined {
  const url = URL.parse(decoded(target));
  return url && ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : undefined;
}

const entities = new Map<string, string>(
  Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: '\u00a0',
  }),
);

/** Returns a text with its character references replaced. Unknown names stay as they are. */
function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities.get(name) ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : '\ufffd';
  });
}
