import { Invalid, InvalidItem, Unsupported } from '../errors.ts';
import { addNumbers, negated } from '../values/numbers.ts';
import { attributeOf, isNumber, setAttribute, type TableItem, typeOf, type Value, ValueSet } from '../values/values.ts';
import { createCache } from './cache.ts';
import { evaluate, nameOf, type Operand, type Placeholders, parseOperand, parsePath } from './operands.ts';
import { expectEnd, expectToken, peek, syntaxError, type Tokens, take, tokensOf } from './tokens.ts';

/** The change of an attribute of the first level, by its name or placeholder. */
type Change =
  | { action: 'SET'; name: string; left: Operand; operator?: '+' | '-'; right?: Operand }
  | { action: 'REMOVE'; name: string }
  | { action: 'ADD' | 'DELETE'; name: string; placeholder: string };

/** A parsed update with the placeholders that it uses. */
export type Update = {
  kind: 'UpdateExpression';
  changes: readonly Change[];
  names: ReadonlySet<string>;
  values: ReadonlySet<string>;
};

const parsed = createCache<Update>();

/**
 * Parses an update. Each text is parsed once.
 *
 * @throws `Invalid` for a syntax error; `Unsupported` for a function or a nested attribute that no store writes
 */
export function parseUpdate(text: string): Update {
  return parsed(text, () => {
    const tokens = tokensOf('UpdateExpression', text);
    const changes: Change[] = [];
    const sections = new Set<string>();
    while (tokens.at < tokens.all.length) {
      const section = peek(tokens).toUpperCase();
      const parse = parsers[section];
      if (!parse) throw syntaxError(tokens);
      if (sections.has(section))
        throw new Invalid(
          `Invalid UpdateExpression: The "${section}" section can only be used once in an update expression;`,
        );
      sections.add(section);
      tokens.at += 1;
      do changes.push(parse(tokens));
      while (take(tokens, ','));
    }
    expectEnd(tokens);
    return { kind: 'UpdateExpression', changes, names: tokens.names, values: tokens.values };
  });
}

const parsers: Record<string, (tokens: Tokens) => Change> = {
  SET: (tokens) => {
    const name = parseTarget(tokens);
    expectToken(tokens, '=');
    const left = parseOperand(tokens, 'if_not_exists');
    const operator = peek(tokens);
    if (operator !== '+' && operator !== '-') return { action: 'SET', name, left };
    tokens.at += 1;
    return { action: 'SET', name, left, operator, right: parseOperand(tokens, 'if_not_exists') };
  },
  REMOVE: (tokens) => ({ action: 'REMOVE', name: parseTarget(tokens) }),
  ADD: (tokens) => ({ action: 'ADD', ...parseNameAndValue(tokens) }),
  DELETE: (tokens) => ({ action: 'DELETE', ...parseNameAndValue(tokens) }),
};

/** Parses the attribute that a change is made to. */
function parseTarget(tokens: Tokens): string {
  const path = parsePath(tokens);
  if (path.length > 1) throw new Unsupported(`the update of a nested attribute: ${tokens.text}`);
  return path[0] as string;
}

function parseNameAndValue(tokens: Tokens): { name: string; placeholder: string } {
  const name = parseTarget(tokens);
  const operand = parseOperand(tokens, 'if_not_exists');
  if (operand.is !== 'value') throw syntaxError({ ...tokens, at: tokens.at - 1 });
  return { name, placeholder: operand.placeholder };
}

/**
 * Checks the attributes and the types of the values in an update.
 *
 * @param keyNames the attributes that cannot be changed
 * @throws `Invalid` if an attribute is changed twice or is part of the key, or if a value has a type that the action does
 *   not take
 */
export function checkUpdate({ changes }: Update, placeholders: Placeholders, keyNames: readonly string[]): void {
  const changed = new Set<string>();
  for (const change of changes) {
    const name = nameOf(change.name, placeholders);
    if (changed.has(name))
      throw new Invalid(
        `Invalid UpdateExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [${name}], path two: [${name}]`,
      );
    changed.add(name);
    checkTypes(change, placeholders);
  }
  const key = keyNames.find((name) => changed.has(name));
  if (key !== undefined)
    throw new InvalidItem(
      `One or more parameter values were invalid: Cannot update attribute ${key}. This attribute is part of the key`,
    );
}

function checkTypes(change: Change, { values }: Placeholders): void {
  if (change.action === 'SET' && change.operator)
    for (const operand of [change.left, change.right])
      if (operand?.is === 'value' && !isNumber(values[operand.placeholder]))
        throw incorrectType(change.operator, values[operand.placeholder] as Value);
  if (change.action !== 'ADD' && change.action !== 'DELETE') return;
  const value = values[change.placeholder] as Value;
  if (!(value instanceof ValueSet) && !(change.action === 'ADD' && isNumber(value)))
    throw incorrectType(change.action, value);
}

const longTypeNames = {
  S: 'STRING',
  N: 'NUMBER',
  BOOL: 'BOOLEAN',
  NULL: 'NULL',
  L: 'LIST',
  M: 'MAP',
  SS: 'SET',
  NS: 'SET',
};

const incorrectType = (operator: string, value: Value) =>
  new Invalid(
    `Invalid UpdateExpression: Incorrect operand type for operator or function; operator: ${operator}, operand type: ${
      longTypeNames[typeOf(value)]
    }`,
  );

/** The result of an update: the new item, and the names of the attributes that the update names. */
export type Updated = { item: TableItem; changed: readonly string[] };

/**
 * Returns an item after an update. All operands have the values before the update.
 *
 * @throws `Invalid` if an operand has no value or a value of another type
 */
export function updated(item: TableItem, { changes }: Update, placeholders: Placeholders): Updated {
  const after: TableItem = { ...item };
  const changed: string[] = [];
  for (const change of changes) {
    const name = nameOf(change.name, placeholders);
    changed.push(name);
    const value = valueAfter(item, name, change, placeholders);
    if (value === undefined) delete after[name];
    else setAttribute(after, name, value);
  }
  return { item: after, changed };
}

/** Returns the new value of an attribute; `undefined` if the change removes it. */
function valueAfter(item: TableItem, name: string, change: Change, placeholders: Placeholders): Value | undefined {
  switch (change.action) {
    case 'REMOVE':
      return undefined;
    case 'SET': {
      const left = existing(evaluate(item, change.left, placeholders));
      if (!change.operator) return left;
      const right = existing(evaluate(item, change.right as Operand, placeholders));
      if (!isNumber(left) || !isNumber(right)) throw wrongOperand();
      return addNumbers(left, change.operator === '+' ? right : negated(right));
    }
    case 'ADD':
      return added(attributeOf(item, name), placeholders.values[change.placeholder] as Value);
    case 'DELETE':
      return without(attributeOf(item, name), placeholders.values[change.placeholder] as ValueSet);
  }
}

function existing(value: Value | undefined): Value {
  if (value === undefined)
    throw new Invalid('The provided expression refers to an attribute that does not exist in the item');
  return value;
}

const wrongOperand = () => new Invalid('An operand in the update expression has an incorrect data type');

function added(value: Value | undefined, more: Value): Value {
  if (value === undefined) return more;
  if (isNumber(value) && isNumber(more)) return addNumbers(value, more);
  if (!(value instanceof ValueSet && more instanceof ValueSet && value.type === more.type)) throw wrongOperand();
  return new ValueSet(value.type, [...value.members.values(), ...more.members.values()]);
}

/** Returns a set without members; `undefined` if none remains. */
function without(value: Value | undefined, less: ValueSet): Value | undefined {
  if (value === undefined) return undefined;
  if (!(value instanceof ValueSet && value.type === less.type)) throw wrongOperand();
  const rest = [...value.members].filter(([text]) => !less.members.has(text)).map(([, member]) => member);
  return rest.length === 0 ? undefined : new ValueSet(value.type, rest);
}
