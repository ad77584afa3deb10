import { Invalid, Unsupported } from '../errors.ts';
import {
  areEqual,
  compareValues,
  type TableItem,
  type TypeName,
  typeOf,
  type Value,
  ValueSet,
} from '../values/values.ts';
import { createCache } from './cache.ts';
import {
  evaluate,
  nameOf,
  type Operand,
  type Path,
  type Placeholders,
  parseOperand,
  parsePath,
  valueAt,
} from './operands.ts';
import { expectEnd, expectToken, peek, syntaxError, type Tokens, take, tokensOf } from './tokens.ts';

/** The comparisons of two operands. */
type Comparison = '=' | '<>' | '<' | '<=' | '>' | '>=';

/** A parsed condition. */
export type ConditionNode =
  | { is: 'or' | 'and'; parts: readonly ConditionNode[] }
  | { is: 'attribute_exists' | 'attribute_not_exists'; path: Path }
  | { is: 'begins_with' | 'contains'; left: Operand; right: Operand }
  | { is: 'comparison'; operator: Comparison; left: Operand; right: Operand }
  | { is: 'between'; left: Operand; from: Operand; to: Operand };

/** The kinds of expressions that are conditions. */
export type ConditionKind = 'ConditionExpression' | 'FilterExpression' | 'KeyConditionExpression';

/** A parsed condition with the placeholders that it uses. */
export type Condition = {
  kind: ConditionKind;
  root: ConditionNode;
  names: ReadonlySet<string>;
  values: ReadonlySet<string>;
};

const parsed = createCache<Condition>();

/**
 * Parses a condition. Each text is parsed once.
 *
 * @throws `Invalid` for a syntax error; `Unsupported` for a function or operator that no store uses
 */
export function parseCondition(kind: ConditionKind, text: string): Condition {
  return parsed(`${kind} ${text}`, () => {
    const tokens = tokensOf(kind, text);
    const root = parseOr(tokens);
    expectEnd(tokens);
    return { kind, root, names: tokens.names, values: tokens.values };
  });
}

function parseOr(tokens: Tokens): ConditionNode {
  const parts = [parseAnd(tokens)];
  while (take(tokens, 'OR')) parts.push(parseAnd(tokens));
  return parts.length === 1 ? (parts[0] as ConditionNode) : { is: 'or', parts };
}

function parseAnd(tokens: Tokens): ConditionNode {
  const parts = [parseTest(tokens)];
  while (take(tokens, 'AND')) parts.push(parseTest(tokens));
  return parts.length === 1 ? (parts[0] as ConditionNode) : { is: 'and', parts };
}

const functionNames = ['attribute_exists', 'attribute_not_exists', 'begins_with', 'contains'] as const;
const comparisons: readonly string[] = ['=', '<>', '<', '<=', '>', '>='];

function parseTest(tokens: Tokens): ConditionNode {
  if (peek(tokens).toUpperCase() === 'NOT') throw new Unsupported(`NOT in ${tokens.kind}: ${tokens.text}`);
  if (peek(tokens) === '(') return parseParentheses(tokens);
  const name = functionNames.find((one) => one === peek(tokens));
  if (name && tokens.all[tokens.at + 1] === '(') return parseFunction(tokens, name);
  const left = parseOperand(tokens, 'size');
  if (take(tokens, 'BETWEEN')) {
    const from = parseOperand(tokens, 'size');
    expectToken(tokens, 'AND');
    return { is: 'between', left, from, to: parseOperand(tokens, 'size') };
  }
  const operator = peek(tokens);
  if (operator.toUpperCase() === 'IN') throw new Unsupported(`IN in ${tokens.kind}: ${tokens.text}`);
  if (!comparisons.includes(operator)) throw syntaxError(tokens);
  tokens.at += 1;
  return { is: 'comparison', operator: operator as Comparison, left, right: parseOperand(tokens, 'size') };
}

function parseParentheses(tokens: Tokens): ConditionNode {
  const start = tokens.at;
  expectToken(tokens, '(');
  const isDouble = peek(tokens) === '(';
  const inner = parseOr(tokens);
  expectToken(tokens, ')');
  // `((a = b))`, but not `((a = b) OR c = d)`.
  if (isDouble && closing(tokens.all, start + 1) === tokens.at - 2)
    throw new Invalid(`Invalid ${tokens.kind}: The expression has redundant parentheses;`);
  return inner;
}

/** Returns the place of the parenthesis that closes the one at a place. */
function closing(all: readonly string[], open: number): number {
  let depth = 0;
  for (let at = open; at < all.length; at++) {
    if (all[at] === '(') depth += 1;
    if (all[at] === ')') depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

function parseFunction(tokens: Tokens, is: (typeof functionNames)[number]): ConditionNode {
  tokens.at += 2;
  if (is === 'attribute_exists' || is === 'attribute_not_exists') {
    const path = parsePath(tokens);
    expectToken(tokens, ')');
    return { is, path };
  }
  const left = parseOperand(tokens, 'size');
  expectToken(tokens, ',');
  const right = parseOperand(tokens, 'size');
  expectToken(tokens, ')');
  return { is, left, right };
}

/**
 * Checks the types of the values in a condition.
 *
 * @throws `Invalid` for a value that the operator or function does not take
 */
export function checkCondition({ kind, root }: Condition, placeholders: Placeholders): void {
  checkNode(kind, root, placeholders);
}

const ordered: readonly TypeName[] = ['S', 'N'];

function checkNode(kind: string, node: ConditionNode, placeholders: Placeholders): void {
  const literal = (operand: Operand) => (operand.is === 'value' ? placeholders.values[operand.placeholder] : undefined);
  const check = (operator: string, allowed: readonly TypeName[], ...operands: Operand[]) => {
    for (const operand of operands) {
      const value = literal(operand);
      if (value !== undefined && !allowed.includes(typeOf(value)))
        throw new Invalid(
          `Invalid ${kind}: Incorrect operand type for operator or function; operator or function: ${operator}, operand type: ${typeOf(value)}`,
        );
    }
  };
  switch (node.is) {
    case 'or':
    case 'and':
      for (const part of node.parts) checkNode(kind, part, placeholders);
      return;
    case 'begins_with':
      check('begins_with', ['S'], node.left, node.right);
      return;
    case 'comparison':
      if (node.operator !== '=' && node.operator !== '<>') check(node.operator, ordered, node.left, node.right);
      return;
    case 'between': {
      check('BETWEEN', ordered, node.left, node.from, node.to);
      const [from, to] = [literal(node.from), literal(node.to)];
      if (from === undefined || to === undefined) return;
      if (typeOf(from) !== typeOf(to))
        throw new Invalid(
          `Invalid ${kind}: The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {${typeOf(from)}:${from}}, upper bound operand: AttributeValue: {${typeOf(to)}:${to}}`,
        );
      if ((compareValues(from, to) as number) > 0)
        throw new Invalid(
          `Invalid ${kind}: The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {${typeOf(from)}:${from}}, upper bound operand: AttributeValue: {${typeOf(to)}:${to}}`,
        );
    }
  }
}

/** Returns whether an item fulfils a condition. A missing item is an empty one. */
export function fulfils(item: TableItem, { root }: Condition, placeholders: Placeholders): boolean {
  return holds(item, root, placeholders);
}

function holds(item: TableItem, node: ConditionNode, placeholders: Placeholders): boolean {
  switch (node.is) {
    case 'or':
      return node.parts.some((part) => holds(item, part, placeholders));
    case 'and':
      return node.parts.every((part) => holds(item, part, placeholders));
    case 'attribute_exists':
      return valueAt(item, node.path, placeholders) !== undefined;
    case 'attribute_not_exists':
      return valueAt(item, node.path, placeholders) === undefined;
    case 'begins_with': {
      const [text, start] = [evaluate(item, node.left, placeholders), evaluate(item, node.right, placeholders)];
      return typeof text === 'string' && typeof start === 'string' && text.startsWith(start);
    }
    case 'contains':
      return contains(evaluate(item, node.left, placeholders), evaluate(item, node.right, placeholders));
    case 'comparison': {
      const [left, right] = [evaluate(item, node.left, placeholders), evaluate(item, node.right, placeholders)];
      return compares(node.operator, left, right);
    }
    case 'between': {
      const value = evaluate(item, node.left, placeholders);
      return (
        compares('>=', value, evaluate(item, node.from, placeholders)) &&
        compares('<=', value, evaluate(item, node.to, placeholders))
      );
    }
  }
}

function contains(whole: Value | undefined, part: Value | undefined): boolean {
  if (whole === undefined || part === undefined) return false;
  if (typeof whole === 'string') return typeof part === 'string' && whole.includes(part);
  if (Array.isArray(whole)) return whole.some((element) => areEqual(element, part));
  if (whole instanceof ValueSet)
    return typeOf(part) === (whole.type === 'SS' ? 'S' : 'N') && whole.members.has(String(part));
  return false;
}

/** Compares two values. Only `<>` holds for values of different types, or for a missing one. */
function compares(operator: Comparison, left: Value | undefined, right: Value | undefined): boolean {
  if (left === undefined || right === undefined) return operator === '<>';
  if (operator === '=') return areEqual(left, right);
  if (operator === '<>') return !areEqual(left, right);
  const order = compareValues(left, right);
  if (order === undefined) return false;
  switch (operator) {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
}

/** Returns the names of the attributes of the first level that a condition names. */
export function namedAttributes({ root }: Condition, placeholders: Placeholders): Set<string> {
  const names = new Set<string>();
  const add = (part: ConditionNode | Operand): void => {
    if ('path' in part) names.add(nameOf(part.path[0] as string, placeholders));
    if ('parts' in part) for (const one of part.parts) add(one);
    if ('left' in part) add(part.left);
    if ('right' in part) add(part.right);
    if ('from' in part) for (const one of [part.from, part.to]) add(one);
  };
  add(root);
  return names;
}
