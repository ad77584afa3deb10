import { tableSchema } from '../../../lib/names/table-schema.ts';
import { Invalid, InvalidItem } from './errors.ts';
import { type EncodedItem, encodeItem } from './values/encoding.ts';
import { isNumber, type Value } from './values/values.ts';

const { partitionKey, sortKey, expiry, dueIndex } = tableSchema;

/** The primary key of an item. */
export type ItemKey = { pk: string; sk: string };

/** An item as the database stores it: its text, and the attributes that the database searches. */
export type TableRow = ItemKey &
  EncodedItem & { due: string | null; dueAt: string | null; expiresAt: number | null; kind: string | null };

/** The largest item, in bytes by the rules of DynamoDB. */
export const largestItem = 400 * 1024;

/** The longest keys of DynamoDB, in bytes. */
const longestKeys: Readonly<Record<string, number>> = {
  [partitionKey]: 2048,
  [sortKey]: 1024,
  [dueIndex.partitionKey]: 2048,
  [dueIndex.sortKey]: 1024,
};

/** The attributes of the primary key. */
export const keyNames: readonly string[] = [partitionKey, sortKey];

/**
 * Returns the row of an item of the document client, or of one that the table works with.
 *
 * @param tooLarge the message for an item above the largest size
 * @throws `InvalidItem` for a missing key, and a key or a key of the index that is no string; `Invalid` for an empty or too
 *   long key, or an item that is too large
 */
export function rowOf(item: object, tooLarge = 'Item size has exceeded the maximum allowed size'): TableRow {
  const row = rowOfAnySize(item);
  if (row.size > largestItem) throw new Invalid(tooLarge);
  return row;
}

/** Returns the row of an item that another engine has accepted, which may count sizes otherwise; see `rowOf`. */
export function rowOfAnySize(item: object): TableRow {
  const values = item as Record<string, Value | undefined>;
  for (const name of keyNames) {
    if (values[name] === undefined)
      throw new InvalidItem(`One or more parameter values were invalid: Missing the key ${name} in the item`);
    if (typeof values[name] !== 'string')
      throw new InvalidItem(`One or more parameter values were invalid: Type mismatch for key ${name} expected: S`);
    checkKeyText(name, values[name]);
  }
  const encoded = encodeItem(item);
  const expiresAt = values[expiry];
  const kind = values.kind;
  return {
    pk: values[partitionKey] as string,
    sk: values[sortKey] as string,
    ...encoded,
    due: indexKeyOf(values, dueIndex.partitionKey),
    dueAt: indexKeyOf(values, dueIndex.sortKey),
    expiresAt: isNumber(expiresAt) ? Number(expiresAt) : null,
    kind: typeof kind === 'string' ? kind : null,
  };
}

function indexKeyOf(values: Record<string, Value | undefined>, name: string): string | null {
  const value = values[name];
  if (value === undefined) return null;
  if (typeof value !== 'string')
    throw new InvalidItem(
      `One or more parameter values were invalid: Type mismatch for Index Key ${name} Expected: S IndexName: ${dueIndex.name}`,
    );
  if (value === '')
    throw new InvalidItem(
      `One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: ${dueIndex.name}, IndexKey: ${name}`,
    );
  checkKeyText(name, value);
  return value;
}

function checkKeyText(name: string, text: string): void {
  if (text === '')
    throw new Invalid(
      `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: ${name}`,
    );
  // SQLite stores UTF-8, in which two keys with different single surrogates would be the same.
  if (!text.isWellFormed()) throw new Invalid(`The key ${name} is not well-formed Unicode`);
  if (Buffer.byteLength(text) > (longestKeys[name] as number))
    throw new Invalid(
      `One or more parameter values were invalid: Size of ${name} has exceeded the maximum size limit of ${longestKeys[name]} bytes`,
    );
}

/**
 * Returns the primary key of a request.
 *
 * @throws `InvalidItem` if it has other attributes than the attributes of the key, or other types
 */
export function keyOf(key: object | undefined): ItemKey {
  const given = (key ?? {}) as Record<string, unknown>;
  const names = Object.keys(given).filter((name) => given[name] !== undefined);
  if (names.length !== keyNames.length || keyNames.some((name) => typeof given[name] !== 'string'))
    throw new InvalidItem('The provided key element does not match the schema');
  for (const name of keyNames) checkKeyText(name, given[name] as string);
  return { pk: given[partitionKey] as string, sk: given[sortKey] as string };
}

/** Returns the size of the entry of an item in the index; 0 if it has none. The index has the keys only. */
export function indexEntrySize({ pk, sk, due, dueAt }: ItemKey & Pick<TableRow, 'due' | 'dueAt'>): number {
  if (due === null || dueAt === null) return 0;
  const names = [partitionKey, sortKey, dueIndex.partitionKey, dueIndex.sortKey];
  return [...names, pk, sk, due, dueAt].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
