import { Invalid, type StoredItem, Unsupported } from '../errors.ts';
import { ExactNumber, parseNumber, sizeOfNumber, type TableNumber } from './numbers.ts';
import { setAttribute, type TableItem, type Value, ValueSet } from './values.ts';

/**
 * A value in the form in which it is stored and sent between threads: as JSON. A string, a boolean, null, a list, a map and a
 * usual number are themselves. Any other value, and a map that looks like one, is a map with a single name:
 *
 * - `$S`: a set of strings, as a list
 * - `$N`: a set of numbers, as a list
 * - `$n`: a number that is not a JavaScript number, as its text
 * - `$m`: a map with a single name, which is one of these
 */
export type Stored = string | number | boolean | null | Stored[] | { [name: string]: Stored };

const tags: readonly string[] = ['$S', '$N', '$n', '$m'];

/** The deepest nesting of lists and maps in DynamoDB. */
const deepest = 32;

/** The result of encoding: the stored form, its size by the rules of DynamoDB, and whether it has a `$` form. */
export type Encoded = { stored: Stored; size: number; coded: boolean };

/** An encoded item. */
export type EncodedItem = StoredItem & { size: number };

/**
 * Encodes a value of the document client, or one that the table works with.
 *
 * @throws Error of the SDK's text for a value that its document client does not send; `Invalid` for one that DynamoDB rejects;
 *   `Unsupported` for a binary value
 */
export function encode(value: unknown): Encoded {
  const state = { size: 0, coded: false };
  const stored = encodeIn(value, state, 0);
  return { stored, ...state };
}

/** Encodes an item; see `encode`. */
export function encodeItem(item: object): EncodedItem {
  const state = { size: 0, coded: false };
  const stored: { [name: string]: Stored } = {};
  for (const name in item) {
    const value = (item as Record<string, unknown>)[name];
    if (value === undefined || typeof value === 'function') continue;
    if (name === '') throw new Invalid('One or more parameter values were invalid: an attribute name is empty');
    state.size += Buffer.byteLength(name);
    setAttribute(stored, name, encodeIn(value, state, 1));
  }
  return { text: JSON.stringify(stored), ...state };
}

/** Returns the item of a stored text. */
export function decodeItem({ text, coded }: StoredItem): TableItem {
  const stored = JSON.parse(text) as { [name: string]: Stored };
  return (coded ? decodeMap(stored) : stored) as TableItem;
}

/** Returns the value of a stored form. */
export function decode(stored: Stored): Value {
  if (typeof stored !== 'object' || stored === null) return stored;
  if (Array.isArray(stored)) return stored.map(decode);
  const names = Object.keys(stored);
  const tag = names.length === 1 ? (names[0] as string) : '';
  if (!tags.includes(tag)) return decodeMap(stored);
  const content = stored[tag] as Stored;
  if (tag === '$m') return decodeMap(content as { [name: string]: Stored });
  if (tag === '$n') return parseNumber(content as string);
  return new ValueSet(tag === '$S' ? 'SS' : 'NS', (content as Stored[]).map(decode) as (string | TableNumber)[]);
}

function decodeMap(map: { [name: string]: Stored }): TableItem {
  const decoded: TableItem = {};
  for (const name of Object.keys(map)) setAttribute<Value>(decoded, name, decode(map[name] as Stored));
  return decoded;
}

type State = { size: number; coded: boolean };

function encodeIn(value: unknown, state: State, depth: number): Stored {
  switch (typeof value) {
    case 'string':
      state.size += Buffer.byteLength(value);
      return value;
    case 'number':
      return encodeNumber(checkedNumber(value), state);
    case 'bigint':
      return encodeNumber(parseNumber(String(value)), state);
    case 'boolean':
      state.size += 1;
      return value;
    case 'object':
      return encodeObject(value, state, depth);
  }
  throw unknownType(value);
}

/** Encodes null, a list, a map, a set, or a number that is an object. */
function encodeObject(value: object | null, state: State, depth: number): Stored {
  if (value === null) {
    state.size += 1;
    return null;
  }
  if (depth > deepest) throw new Invalid('Nesting Levels have exceeded supported limits');
  if (Array.isArray(value)) {
    state.size += 3 + value.length;
    return value
      .filter((one) => one !== undefined && typeof one !== 'function')
      .map((one) => encodeIn(one, state, depth + 1));
  }
  if (value instanceof ValueSet) return encodeSet([...value.members.values()], state);
  if (value instanceof Set)
    return encodeSet(
      [...value].filter((one) => one !== undefined),
      state,
    );
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null)
    return encodeMap(value as Record<string, unknown>, state, depth);
  if (isNumberObject(value)) return encodeNumber(parseNumber(String(value)), state);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof Blob)
    throw new Unsupported('binary values');
  throw unknownType(value);
}

function encodeMap(map: Record<string, unknown>, state: State, depth: number): Stored {
  state.size += 3;
  const stored: { [name: string]: Stored } = {};
  let count = 0;
  let last = '';
  for (const name in map) {
    const value = map[name];
    if (value === undefined || typeof value === 'function') continue;
    state.size += 1 + Buffer.byteLength(name);
    setAttribute(stored, name, encodeIn(value, state, depth + 1));
    count += 1;
    last = name;
  }
  if (count !== 1 || !tags.includes(last)) return stored;
  state.coded = true;
  return { $m: stored };
}

function encodeSet(members: readonly unknown[], state: State): Stored {
  if (members.length === 0) throw new Error('Pass a non-empty set, or options.convertEmptyValues=true.');
  state.coded = true;
  if (members.every((member) => typeof member === 'string')) {
    for (const member of members) state.size += Buffer.byteLength(member);
    return { $S: [...new Set(members)] };
  }
  const numbers = members.map((member) => {
    if (typeof member === 'number') return checkedNumber(member);
    if (typeof member !== 'bigint' && !isNumberObject(member))
      throw new Unsupported('sets of other values than strings, or numbers');
    return parseNumber(String(member));
  });
  const different = new ValueSet('NS', numbers).members;
  return { $N: [...different.values()].map((number) => encodeNumber(number as TableNumber, state)) };
}

function encodeNumber(number: TableNumber, state: State): Stored {
  state.size += sizeOfNumber(number);
  if (typeof number === 'number') return number;
  state.coded = true;
  return { $n: String(number) };
}

/** Returns a number that the document client sends, without the sign of -0. */
function checkedNumber(number: number): number {
  if (!Number.isFinite(number)) throw new Error(`Special numeric value ${number} is not allowed`);
  if (Math.abs(number) > Number.MAX_SAFE_INTEGER) {
    const is = number > 0 ? 'greater than Number.MAX_SAFE_INTEGER' : 'lesser than Number.MIN_SAFE_INTEGER';
    throw new Error(`Number ${number} is ${is}. Use NumberValue from @aws-sdk/lib-dynamodb.`);
  }
  // The texts of fractions may be beyond the limits of DynamoDB; the texts of integers are not.
  if (!Number.isInteger(number)) return parseNumber(String(number)) as number;
  return number + 0;
}

/** Returns whether a value is a number of the table, or the `NumberValue` of the SDK. This thread does not load the SDK. */
const isNumberObject = (value: unknown) =>
  value instanceof ExactNumber || (value as object | null)?.constructor?.name === 'NumberValue';

const unknownType = (value: unknown) =>
  new Error(
    `Unsupported type passed: ${value}. Pass options.convertClassInstanceToMap=true to marshall typeof object as map attribute.`,
  );
