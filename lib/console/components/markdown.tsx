import { Lexer, type Token, type Tokens } from 'marked';
import { Fragment, type ReactNode, useMemo } from 'react';

/** The longest text that is shown as Markdown. Longer ones are shown as they are. */
const longestText = 100_000;

/** Matches a line with more quotes in each other than the stack of the lexer is deep enough for. */
const deepQuotes = /^[ \t]*(?:>[ \t]*){20}/m;

/** The deepest nesting that is shown as Markdown. Deeper parts are shown as they are. */
const deepestNesting = 20;

/**
 * Shows a Markdown text. Its parts become React elements, and no HTML is parsed: HTML in the text is shown as it is, as are
 * links to anything but web pages and mail addresses. Images become links, because the console loads nothing from others.
 */
export function Markdown({ text }: { text: string }) {
  const tokens = useMemo(() => tokensOf(text), [text]);
  return <div className="markdown">{tokens ? partsOf(tokens, 0) : <pre>{text}</pre>}</div>;
}

/** Returns the tokens of a text, or `undefined` if it is too large or too deep. */
function tokensOf(text: string): Token[] | undefined {
  if (text.length > longestText || deepQuotes.test(text)) return undefined;
  try {
    return new Lexer({ gfm: true }).lex(text);
  } catch (error) {
    // The lexer calls itself for each level.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function partsOf(tokens: readonly Token[] | undefined, depth: number): ReactNode {
  return (tokens ?? []).map((token, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a changed text is rendered anew, and parts have no state
    <Fragment key={at}>{depth > deepestNesting ? token.raw : partOf(token, depth + 1)}</Fragment>
  ));
}

function partOf(token: Token, depth: number): ReactNode {
  const any = token as Tokens.Generic;
  const parts = () => partsOf(any.tokens, depth);
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
      return listOf(token as Tokens.List, depth);
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
      return tableOf(token as Tokens.Table, depth);
    case 'text':
      return any.tokens ? parts() : decoded(any.text);
    case 'escape':
      return any.text;
    default:
      return any.raw;
  }
}

function listOf({ items, ordered, start }: Tokens.List, depth: number): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: see above
  const entries = items.map(({ tokens }, at) => <li key={at}>{partsOf(tokens, depth)}</li>);
  return ordered ? <ol start={start === '' ? 1 : start}>{entries}</ol> : <ul>{entries}</ul>;
}

function tableOf({ header, rows }: Tokens.Table, depth: number): ReactNode {
  return (
    <div className="table">
      <table>
        <thead>
          <tr>
            {header.map(({ tokens }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: see above
              <th key={at}>{partsOf(tokens, depth)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, nth) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: see above
            <tr key={nth}>
              {row.map(({ tokens }, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: see above
                <td key={at}>{partsOf(tokens, depth)}</td>
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

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
};

/** Returns a text with its character references replaced. Unknown names stay as they are. */
function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : '\ufffd';
  });
}
