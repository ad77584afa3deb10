import { Invalid, Unsupported } from '../errors.ts';
import { attributeOf, type TableItem, type Value, ValueSet } from '../values/values.ts';
import { expectToken, nextToken, peek, syntaxError, type Tokens, take } from './tokens.ts';

/** The names and values of the placeholders of an expression. */
export type Placeholders = { names: Readonly<Record<string, string>>; values: Readonly<Record<string, Value>> };

/** A part of a document path: a name or its placeholder, or the index of a list. */
type PathPart = string | number;
export type Path = readonly PathPart[];

/** An operand of an expression. */
export type Operand =
  | { is: 'path'; path: Path }
  | { is: 'value'; placeholder: string }
  | { is: 'size'; path: Path }
  | { is: 'if_not_exists'; path: Path; otherwise: Operand };

const keywords = ['AND', 'OR', 'NOT', 'BETWEEN', 'IN', 'SET', 'REMOVE', 'ADD', 'DELETE'];

/** Parses a document path: names or their placeholders, with dots and indexes. */
export function parsePath(tokens: Tokens): Path {
  const parts: PathPart[] = [parseName(tokens)];
  for (;;) {
    if (take(tokens, '.')) parts.push(parseName(tokens));
    else if (take(tokens, '[')) {
      const index = nextToken(tokens);
      if (!/^\d{1,9}$/.test(index)) throw syntaxError({ ...tokens, at: tokens.at - 1 });
      parts.push(Number(index));
      expectToken(tokens, ']');
    } else return parts;
  }
}

/** Parses the name of an attribute or its placeholder. */
function parseName(tokens: Tokens): string {
  const name = peek(tokens);
  const isName = /^(#\w+|[A-Za-z_]\w*)$/.test(name) && !keywords.includes(name.toUpperCase());
  if (!isName) throw syntaxError(tokens);
  if (name.startsWith('#')) tokens.names.add(name);
  tokens.at += 1;
  return name;
}

/** Parses an operand. Functions of operands: `size` in conditions, `if_not_exists` in updates. */
export function parseOperand(tokens: Tokens, allowed: 'size' | 'if_not_exists'): Operand {
  const first = peek(tokens);
  if (first.startsWith(':')) {
    tokens.at += 1;
    tokens.values.add(first);
    return { is: 'value', placeholder: first };
  }
  if (tokens.all[tokens.at + 1] !== '(') return { is: 'path', path: parsePath(tokens) };
  if (first !== allowed) throw new Unsupported(`${first}() in ${tokens.kind}: ${tokens.text}`);
  tokens.at += 2;
  const path = parsePath(tokens);
  if (allowed === 'size') {
    expectToken(tokens, ')');
    return { is: 'size', path };
  }
  expectToken(tokens, ',');
  const otherwise = parseOperand(tokens, allowed);
  expectToken(tokens, ')');
  return { is: 'if_not_exists', path, otherwise };
}

/** Returns the name of a part of a path. */
export function nameOf(part: string, { names }: Placeholders): string {
  return part.startsWith('#') ? (names[part] as string) : part;
}

/** Returns the value at a path; `undefined` if there is none. */
export function valueAt(item: TableItem, path: Path, placeholders: Placeholders): Value | undefined {
  let value: Value | undefined = item;
  for (const part of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (typeof part === 'number') value = Array.isArray(value) ? value[part] : undefined;
    else if (Object.getPrototypeOf(value) !== Object.prototype) return undefined;
    else value = attributeOf(value as TableItem, nameOf(part, placeholders));
  }
  return value;
}

/** Returns the value of an operand; `undefined` for a path without a value. */
export function evaluate(item: TableItem, operand: Operand, placeholders: Placeholders): Value | undefined {
  switch (operand.is) {
    case 'value':
      return placeholders.values[operand.placeholder];
    case 'path':
      return valueAt(item, operand.path, placeholders);
    case 'size':
      return sizeOf(valueAt(item, operand.path, placeholders));
    case 'if_not_exists': {
      const value = valueAt(item, operand.path, placeholders);
      return value === undefined ? evaluate(item, operand.otherwise, placeholders) : value;
    }
  }
}

/** Returns the number of members or elements. */
function sizeOf(value: Value | undefined): Value | undefined {
  if (value === undefined) return undefined;
  if (value instanceof ValueSet) return value.members.size;
  if (Array.isArray(value)) return value.length;
  if (typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype)
    return Object.keys(value).length;
  throw new Unsupported('size() of other values than sets, lists and maps');
}

/**
 * Checks that expressions use exactly the placeholders of the request: each is defined and used.
 *
 * @param expressions the parsed expressions of a request
 */
export function checkPlaceholders(
  expressions: readonly { kind: string; names: ReadonlySet<string>; values: ReadonlySet<string> }[],
  names: Readonly<Record<string, string>> | undefined,
  values: Readonly<Record<string, unknown>> | undefined,
): void {
  for (const { kind, names: used, values: usedValues } of expressions) {
    for (const name of used)
      if (names?.[name] === undefined)
        throw new Invalid(
          `Invalid ${kind}: An expression attribute name used in the document path is not defined; attribute name: ${name}`,
        );
    for (const value of usedValues)
      if (values?.[value] === undefined)
        throw new Invalid(
          `Invalid ${kind}: An expression attribute value used in expression is not defined; attribute value: ${value}`,
        );
  }
  const check = (what: string, given: object | undefined, form: RegExp, isUsed: (name: string) => boolean) => {
    if (given === undefined) return;
    const all = Object.keys(given).filter((name) => (given as Record<string, unknown>)[name] !== undefined);
    if (expressions.length === 0)
      throw new Invalid(`${what} can only be specified when using expressions: no expression is set`);
    if (all.length === 0) throw new Invalid(`${what} must not be empty`);
    const malformed = all.find((name) => !form.test(name));
    if (malformed !== undefined) throw new Invalid(`${what} contains invalid key: Syntax error; key: "${malformed}"`);
    const unused = all.filter((name) => !isUsed(name));
    if (unused.length > 0)
      throw new Invalid(`Value provided in ${what} unused in expressions: keys: {${unused.join(', ')}}`);
  };
  check('ExpressionAttributeNames', names, /^#\w+$/, (name) => expressions.some(({ names }) => names.has(name)));
  check('ExpressionAttributeValues', values, /^:\w+$/, (name) => expressions.some(({ values }) => values.has(name)));
}
