import type { Token, Tokens } from 'marked';
import { Fragment, type ReactNode, useMemo } from 'react';
import { readMarkdown } from './markdown-tokens.ts';

/**
 * Shows a Markdown text. Its parts become React elements, and no HTML is parsed: HTML in the text is shown as it is, as are
 * links to anything but web pages and mail addresses. Images become links, because the console loads nothing from others.
 * A text that exceeds the limits of Markdown is shown as it is, with a note.
 */
export function Markdown({ text }: { text: string }) {
  const { tokens } = useMemo(() => readMarkdown(text), [text]);
  if (tokens) return <div className="markdown">{partsOf(tokens)}</div>;
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
      return <input type="checkbox" checked={any.checked} disabled aria-label={any.checked ? 'done' : 'not done'} />;
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

function listOf({ items, ordered, start }: Tokens.List): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: see above
  const entries = items.map(({ tokens }, at) => <li key={at}>{partsOf(tokens)}</li>);
  return ordered ? <ol start={start === '' ? 1 : start}>{entries}</ol> : <ul>{entries}</ul>;
}

function tableOf({ header, rows }: Tokens.Table): ReactNode {
  return (
    <div className="table">
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
    </div>
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
