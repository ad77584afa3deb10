import { Invalid } from '../errors.ts';

/** The tokens of an expression, one after the other. */
export type Tokens = {
  /** The kind of expression, such as `ConditionExpression`, for error messages. */
  readonly kind: string;
  readonly text: string;
  readonly all: readonly string[];
  at: number;
  /** The placeholders of names and values that the expression uses. */
  readonly names: Set<string>;
  readonly values: Set<string>;
};

const token = /\s*(<=|>=|<>|[=<>(),+.[\]-]|[#:]\w+|\w+)/y;

/**
 * Splits an expression into tokens.
 *
 * @throws `Invalid` if it is empty or has an unknown character
 */
export function tokensOf(kind: string, text: string): Tokens {
  if (text.trim() === '') throw new Invalid(`Invalid ${kind}: The expression can not be empty;`);
  const all: string[] = [];
  token.lastIndex = 0;
  let end = 0;
  for (let found = token.exec(text); found; found = token.exec(text)) {
    all.push(found[1] as string);
    end = token.lastIndex;
  }
  const tokens = { kind, text, all, at: 0, names: new Set<string>(), values: new Set<string>() };
  if (text.slice(end).trim() !== '') throw syntaxError({ ...tokens, all: [text.slice(end).trim()] });
  return tokens;
}

/** Returns the next token; empty at the end. */
export const peek = ({ all, at }: Tokens): string => all[at] ?? '';

/** Takes the next token. */
export function nextToken(tokens: Tokens): string {
  const taken = peek(tokens);
  tokens.at += 1;
  return taken;
}

/** Takes the next token if it is this one. Keywords may have small letters. */
export function take(tokens: Tokens, wanted: string): boolean {
  if (peek(tokens).toUpperCase() !== wanted) return false;
  tokens.at += 1;
  return true;
}

/** Takes the next token, which must be this one. */
export function expectToken(tokens: Tokens, wanted: string): void {
  if (!take(tokens, wanted)) throw syntaxError(tokens);
}

/** Checks that an expression has ended. */
export function expectEnd(tokens: Tokens): void {
  if (tokens.at < tokens.all.length) throw syntaxError(tokens);
}

export function syntaxError(tokens: Tokens): Invalid {
  const found = peek(tokens) || '<EOF>';
  return new Invalid(`Invalid ${tokens.kind}: Syntax error; token: "${found}", in: ${tokens.text}`);
}
