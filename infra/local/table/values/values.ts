import { compareNumbers, ExactNumber, type TableNumber } from './numbers.ts';

/** A value of an attribute, as the table works with it. */
export type Value = string | boolean | null | TableNumber | Value[] | ValueMap | ValueSet;
export type ValueMap = { [name: string]: Value };

/** An item as the table works with it. */
export type TableItem = ValueMap;

/** A set of strings or of numbers. Members are equal if their texts are: a number has one form. */
export class ValueSet {
  readonly type: 'SS' | 'NS';
  /** The members by their texts. */
  readonly members: ReadonlyMap<string, string | TableNumber>;

  constructor(type: 'SS' | 'NS', members: Iterable<string | TableNumber>) {
    this.type = type;
    this.members = new Map(Array.from(members, (member) => [String(member), member]));
  }
}

/** The names that DynamoDB gives the types of values. */
export type TypeName = 'S' | 'N' | 'BOOL' | 'NULL' | 'L' | 'M' | 'SS' | 'NS';

/** Returns the type of a value. */
export function typeOf(value: Value): TypeName {
  if (value === null) return 'NULL';
  switch (typeof value) {
    case 'string':
      return 'S';
    case 'number':
    case 'bigint':
      return 'N';
    case 'boolean':
      return 'BOOL';
  }
  if (value instanceof ExactNumber) return 'N';
  if (value instanceof ValueSet) return value.type;
  return Array.isArray(value) ? 'L' : 'M';
}

/** Returns whether a value is a number. */
export function isNumber(value: Value | undefined): value is TableNumber {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof ExactNumber;
}

/** Returns the attribute of an item or map; `undefined` if it has none of this name. */
export function attributeOf(map: ValueMap, name: string): Value | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

/** Sets an attribute, whatever its name is. */
export function setAttribute<Of>(map: { [name: string]: Of }, name: string, value: Of): void {
  // An assignment to this name would set the prototype.
  if (name === '__proto__')
    Object.defineProperty(map, name, { value, enumerable: true, configurable: true, writable: true });
  else map[name] = value;
}

/** Returns whether two values are equal. Values of different types are not. */
export function areEqual(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof ExactNumber || b instanceof ExactNumber)
    return a instanceof ExactNumber && b instanceof ExactNumber && a.text === b.text;
  if (a instanceof ValueSet || b instanceof ValueSet)
    return (
      a instanceof ValueSet &&
      b instanceof ValueSet &&
      a.type === b.type &&
      a.members.size === b.members.size &&
      [...a.members.keys()].every((text) => b.members.has(text))
    );
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((one, at) => areEqual(one, b[at] as Value))
    );
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && areEqual(a[name] as Value, b[name] as Value))
  );
}

/**
 * Returns the order of two values: negative, 0 or positive; `undefined` if they have no order, because their types differ
 * or have none. Strings are ordered by their UTF-8 bytes.
 */
export function compareValues(a: Value, b: Value): number | undefined {
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b);
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b);
  return undefined;
}

const surrogate = /[\ud800-\udfff]/;

/** Returns the order of two strings by their UTF-8 bytes, which is the order of their code points. */
function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  // UTF-16 orders surrogates, which are code points above U+FFFF, below U+E000.
  if (surrogate.test(a) || surrogate.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : 1;
}
