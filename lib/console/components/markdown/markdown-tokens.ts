import { Lexer, type Token, Tokenizer, type Tokens } from 'marked';

/** What a text may cost at most to be shown as Markdown. A text that is written to be read needs a small part of it. */
export const markdownLimits = {
  /** The length of the text, in UTF-16 code units: the 10,000 characters of the longest description, two units each. */
  length: 20_000,
  /** How deep quotes, lists and formats are in each other. */
  depth: 20,
  /** The number of characters that the lexer is given: in each of its steps, the rest of the text or of the paragraph. */
  given: 10_000_000,
  /** The same in steps that look for the end of a format, which take longer. */
  searched: 4_000_000,
  /** The number of paragraphs, headings, items of lists, and columns of each row of a table. */
  texts: 5_000,
  /** The number of all parts, which become the elements of the page. */
  parts: 5_000,
  /** The length of the targets of all links. References can repeat a long one. */
  targets: 100_000,
} as const;

type Counted = Exclude<keyof typeof markdownLimits, 'length'>;

/** Adds to a count, and throws if it exceeds its limit. */
type Count = (what: Counted, number: number) => void;

/** A text that was read: its tokens, unless it exceeds a limit, and the counts up to the end or to the limit. */
export type ReadMarkdown = { tokens: readonly Token[] | undefined; counts: Readonly<Record<Counted, number>> };

/** Reads a Markdown text. The first limit that it exceeds ends that, before anything is done beyond it. */
export function readMarkdown(text: string): ReadMarkdown {
  const counts = { depth: 0, given: 0, searched: 0, texts: 0, parts: 0, targets: 0 };
  const count: Count = (what, number) => {
    counts[what] += number;
    if (counts[what] > markdownLimits[what]) throw new LimitExceeded();
  };
  if (text.length > markdownLimits.length) return { tokens: undefined, counts };
  try {
    const tokens = new LimitedLexer(count).lex(text);
    countParts(tokens, count);
    return { tokens, counts };
  } catch (error) {
    if (error instanceof LimitExceeded) return { tokens: undefined, counts };
    throw error;
  }
}

class LimitExceeded extends Error {}

/** A lexer that counts what it is about to do. */
class LimitedLexer extends Lexer {
  readonly #count: Count;

  constructor(count: Count) {
    super({ gfm: true, tokenizer: new LimitedTokenizer(count) });
    this.#count = count;
  }

  override blockTokens<List extends Token[]>(text: string, tokens?: List, isClipped?: boolean): List {
    return this.#deeper(() => super.blockTokens(text, tokens, isClipped) as List);
  }

  override inlineTokens(text: string, tokens?: Token[]): Token[] {
    return this.#deeper(() => super.inlineTokens(text, tokens));
  }

  // The lexer reads these texts later. A row of a table has as many of them as the header, however short it is.
  override inline(text: string, tokens?: Token[]): Token[] {
    this.#count('texts', 1);
    return super.inline(text, tokens);
  }

  #deeper<Result>(read: () => Result): Result {
    this.#count('depth', 1);
    const result = read();
    this.#count('depth', -1);
    return result;
  }
}

/** A tokenizer that counts the characters that it is given. The lexer begins each step with one of these functions. */
class LimitedTokenizer extends Tokenizer {
  readonly #count: Count;

  constructor(count: Count) {
    super();
    this.#count = count;
  }

  override space(text: string): Tokens.Space | undefined {
    this.#count('given', text.length);
    return super.space(text);
  }

  override escape(text: string): Tokens.Escape | undefined {
    this.#count('given', text.length);
    if (/^[*_~]/.test(text)) this.#count('searched', text.length);
    return super.escape(text);
  }
}

/** Counts the parts that tokens are shown as. */
function countParts(tokens: readonly Token[], count: Count): void {
  for (const token of tokens) {
    count('parts', 1);
    if (token.type === 'link' || token.type === 'image') count('targets', token.href.length);
    if (token.type === 'list') countParts(token.items, count);
    else if (token.type === 'table')
      for (const row of [token.header, ...token.rows])
        for (const { tokens } of row) {
          count('parts', 1);
          countParts(tokens, count);
        }
    else if ('tokens' in token) countParts(token.tokens ?? [], count);
  }
}
